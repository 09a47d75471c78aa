"""The guard of tests/conftest.py: only loopback is reached."""

import os
import socket
import urllib.request
from contextlib import closing

import boto3
import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "0.0.0.0"])
def test_a_connection_elsewhere_is_refused_and_named(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.socket(family)) as client, pytest.raises(RuntimeError, match=address):
        client.connect((address, 80))


def test_a_datagram_elsewhere_is_refused() -> None:
    with closing(socket.socket(type=socket.SOCK_DGRAM)) as client, pytest.raises(RuntimeError):
        client.sendto(b"x", ("192.0.2.1", 53))


def test_a_look_up_is_refused_and_named() -> None:
    with pytest.raises(RuntimeError, match=r"example\.com"):
        urllib.request.urlopen("http://example.com")


def test_a_client_of_aws_fails_at_once() -> None:
    with pytest.raises(Exception, match="only reach loopback"):
        boto3.client("s3").list_buckets()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_reached(host: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        socket.create_connection((host, server.getsockname()[1])).close()


def test_the_shell_s_account_is_not_used() -> None:
    assert os.environ["AWS_ACCESS_KEY_ID"] == "testing"
    assert "AWS_PROFILE" not in os.environ
