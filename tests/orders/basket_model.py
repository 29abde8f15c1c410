"""The price of a basket, once more in plain Python, written from the documentation."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

ZERO = Decimal(0)


class No(Exception):
    """A refusal, with the statuses that it may have."""

    def __init__(self, *statuses: int) -> None:
        super().__init__(statuses)
        self.statuses = statuses


class Ware(msgspec.Struct, frozen=True, kw_only=True):
    """A product: its price, its tax, which variants it takes how many of, what an extra costs."""

    price: Decimal
    tax: Decimal = ZERO
    parts: tuple[tuple[str, Decimal], ...] = ()
    extra: Decimal = ZERO


class Ask(msgspec.Struct, frozen=True):
    """A line: of a ware, or of what is no ware (`fee`, `adhoc`)."""

    ware: str
    quantity: Decimal = Decimal(1)
    price: Decimal | None = None
    has_extra: bool = False


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """A new order as it is asked for; `paid` is an amount."""

    asks: tuple[Ask, ...]
    paid: Decimal = ZERO
    method: str = "cash"
    customer: str | None = None
    when: str | None = None
    is_import: bool = False
    in_store: bool = False
    promotion: str | None = None
    discount: Decimal = ZERO
    charge: Decimal | None = None
    kitchen: bool | None = None


class Trade(msgspec.Struct, kw_only=True):
    """The catalogue, and whether prices include the tax."""

    wares: Mapping[str, Ware]
    percents: Mapping[str, Decimal]
    is_inclusive: bool = False

    def line(self, ask: Ask) -> tuple[Decimal, Decimal]:
        """The subtotal of a line, and its rate of tax."""
        ware = self.wares.get(ask.ware, Ware(price=ZERO))
        unit = ware.price if ask.price is None else ask.price
        if ask.has_extra:
            unit += ware.extra
        return cents(unit * ask.quantity), ware.tax

    def priced(self, sale: Sale) -> tuple[Decimal, Decimal]:
        """Subtotal and total of a sale."""
        lines = [self.line(ask) for ask in sale.asks]
        goods = [n for n, ask in enumerate(sale.asks) if ask.ware != "fee"]
        bearers = goods or list(range(len(lines)))
        nets = [subtotal for subtotal, _ in lines]
        if sale.discount > sum((nets[n] for n in bearers), ZERO):
            raise No(422)
        if sale.promotion:
            percent = self.percents[sale.promotion]
            off = cents(sum((nets[n] for n in goods), ZERO) * percent / 100)
            if not off:
                raise No(400)
            _take_off(nets, goods, off)
        if sale.discount > sum((nets[n] for n in bearers), ZERO):
            # More than the promotion has left.
            raise No(400, 422)
        if sale.discount:
            _take_off(nets, bearers, sale.discount)
        subtotal = sum((subtotal for subtotal, _ in lines), ZERO)
        total = sum(nets, ZERO) + (sale.charge or ZERO)
        if not self.is_inclusive:
            rates = (rate for _, rate in lines)
            total += sum(
                (cents(net * rate / 100) for net, rate in zip(nets, rates, strict=True)), ZERO
            )
        return subtotal, total


def _take_off(nets: list[Decimal], places: list[int], off: Decimal) -> None:
    for place, share in zip(places, shares(off, [nets[n] for n in places]), strict=True):
        nets[place] -= share


def cents(amount: Decimal | Fraction) -> Decimal:
    """Rounded half-up, away from zero."""
    exact = Fraction(amount) * 100
    whole = (2 * abs(exact).numerator + exact.denominator) // (2 * exact.denominator)
    return (Decimal(whole) / 100).copy_sign(Decimal(1 if exact >= 0 else -1)) + 0


def shares(total: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """A total by weights in whole cents; what is left over goes to the largest remainders."""
    whole = sum(weights, ZERO)
    exact = [Fraction(total) * 100 * Fraction(weight) / Fraction(whole) for weight in weights]
    units = [part.numerator // part.denominator for part in exact]
    by_rest = sorted(range(len(exact)), key=lambda n: units[n] - exact[n])
    for place in by_rest[: int(total * 100) - sum(units)]:
        units[place] += 1
    return [Decimal(unit) / 100 for unit in units]
