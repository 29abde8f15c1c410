"""The background work of orders, done at once."""

from collections import Counter

from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.orders.worker import kinds, queue_scheduled


async def fire_due(services: Services) -> None:
    """Send to the kitchen what is due there."""
    while await queue_scheduled(services.pool):
        pass
    await JobRunner(services.pool, kinds(services), Counter()).run_due(now())
