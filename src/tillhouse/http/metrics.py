"""Prometheus metrics: requests by route and status, their time, database connections."""

import os
from collections import Counter as Sums
from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from tillhouse.access.usage import Storage
from tillhouse.db.pool import Pool
from tillhouse.jobs.runner import Results
from tillhouse.jobs.worker import BackgroundWorkers

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Set by the parent of several workers before they start: their counts then share a folder.
_SHARED = "PROMETHEUS_MULTIPROC_DIR"


class ChildCounts:
    """The counts of workers that serve nothing: calls, packets, datagrams."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counter = Counter(
            "tillhouse_telephone",
            "Calls and packets of sound, and datagrams that were ignored",
            ["provider", "count"],
            registry=registry,
        )
        self._told: Sums[str] = Sums()

    def refresh(self, counted: Mapping[str, int]) -> None:
        """Add the counts since the last time."""
        for name, count in counted.items():
            provider, _, what = name.partition(".")
            self._counter.labels(provider, what).inc(max(0, count - self._told[name]))
            self._told[name] = count


class Metrics:
    """The counters of this process; with several workers, /metrics adds them all up."""

    def __init__(
        self, pool: Pool, workers: BackgroundWorkers, job_results: Results, storage: Storage
    ) -> None:
        self._pool = pool
        self._workers = workers
        self._job_results = job_results
        self._storage = storage
        self._counted: Results = Results()
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "tillhouse_http_requests",
            "Answered requests",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "tillhouse_http_request_seconds",
            "Time to answer",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._connections = Gauge(
            "tillhouse_database_connections",
            "Database connections",
            ["state"],
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self._ages = Gauge(
            "tillhouse_worker_seconds_since_round",
            "How long ago a background worker completed a round",
            ["worker"],
            registry=self._registry,
            multiprocess_mode="livemax",
        )
        self._jobs = Counter(
            "tillhouse_jobs",
            "Jobs that ended: done, failed (tried again), dead (given up)",
            ["kind", "result"],
            registry=self._registry,
        )
        self._apart = ChildCounts(self._registry)
        self._rows = self._of_storage("rows", "Rows that all books hold")
        self._bytes = self._of_storage("bytes", "Bytes that these rows take")
        self._full = self._of_storage("full_books", "Books that hold as much as they may")
        # Label look-ups cost more than counting, so their children are kept.
        self._children: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def _of_storage(self, name: str, meaning: str) -> Gauge:
        # Each process measures the same.
        return Gauge(
            f"tillhouse_stored_{name}",
            meaning,
            ["kind"],
            registry=self._registry,
            multiprocess_mode="livemax",
        )

    def observe(self, method: str, route: str, status: int, took_s: float) -> None:
        """Count one answered request."""
        key = (method, route, status)
        children = self._children.get(key)
        if children is None:
            counter = self._requests.labels(method, route, status)
            children = self._children[key] = (counter, self._seconds.labels(method, route))
        children[0].inc()
        children[1].observe(took_s)

    def refresh(self) -> None:
        """Set the values that are measured at a scrape, for this process."""
        in_use, opened = self._pool.usage()
        self._connections.labels("in_use").set(in_use)
        self._connections.labels("open").set(opened)
        for name, age_s in self._workers.ages().items():
            self._ages.labels(name).set(age_s)
        self._apart.refresh(self._workers.counted())
        for kind, stored in self._storage.stored.items():
            self._rows.labels(kind).set(stored.rows)
            self._bytes.labels(kind).set(stored.bytes)
            self._full.labels(kind).set(len({*stored.full_by_rows, *stored.full_by_bytes}))
        for (kind, result), count in (self._job_results - self._counted).items():
            self._jobs.labels(kind, result).inc(count)
            self._counted[kind, result] += count

    def render(self) -> bytes:
        """Everything in Prometheus' text format."""
        self.refresh()
        registry = self._registry
        if os.environ.get(_SHARED):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        return generate_latest(registry)
