"""What the server of forks does when it starts: all that its forks share is loaded, and nothing is left open."""

import threading

from sfumato.server.work.warming import warm_up

warm_up("reference")
for _thread in threading.enumerate():
    if _thread is not threading.main_thread():
        _thread.join()  # a fork has none of its threads, and would wait for what they hold
