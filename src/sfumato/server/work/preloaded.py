"""What the server of forks does when it starts, as it only imports: all that its forks share is loaded and computed."""

from sfumato.server.work.warming import warm_up

warm_up("reference")
