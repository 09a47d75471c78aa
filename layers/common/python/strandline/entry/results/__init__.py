"""The results of the routes, one file a group of routes: what `entry/answers.py` declares them by."""
