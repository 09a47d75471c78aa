"""The local run: the wiring of template.yaml on one machine. Start reading at `__main__`."""
