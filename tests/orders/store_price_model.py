"""The price of a sale in a store with prices of its own, and with a free item."""

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from tests.orders import basket_model
from tests.orders.basket_model import ZERO, Ask, No, Trade, cents


class Sale(basket_model.Sale, frozen=True, kw_only=True):
    """A new order, perhaps of the guests at a table."""

    table: str | None = None


class Gift(msgspec.Struct, frozen=True, kw_only=True):
    """One unit of the cheapest item that it is for: of these wares, or of whatever is sold."""

    wares: frozenset[str] | None = None
    most: Decimal | None = None


class Till(Trade, kw_only=True):
    """The items sold in a store, and those given away with them."""

    here: dict[str, Decimal]
    gifts: Mapping[str, Gift]

    def units(self, sale: basket_model.Sale) -> list[tuple[Decimal, Decimal]]:
        """Of each line: what a unit costs, and what the catalog asks for one."""
        listed = msgspec.structs.replace(
            sale,
            asks=tuple(
                msgspec.structs.replace(ask, price=None) if ask.ware in self.wares else ask
                for ask in sale.asks
            ),
        )
        units, others = (map(self._unit, self._placed(one).asks) for one in (sale, listed))
        return list(zip(units, others, strict=True))

    def off(self, sale: basket_model.Sale) -> Decimal:
        """The discount of the sale's promotion."""
        placed = self._placed(sale)
        if sale.promotion is None:
            return ZERO
        if sale.promotion in self.gifts:
            return self._given(self.gifts[sale.promotion], placed)[1]
        goods = (self.line(ask)[0] for ask in placed.asks if ask.ware != "fee")
        return cents(sum(goods, ZERO) * self.percents[sale.promotion] / 100)

    def priced(self, sale: basket_model.Sale) -> tuple[Decimal, Decimal]:
        """Subtotal and total of a sale."""
        placed = self._placed(sale)
        if placed.promotion is None or placed.promotion not in self.gifts:
            return super().priced(placed)
        bare = msgspec.structs.replace(placed, promotion=None)
        subtotal, _ = super().priced(bare)
        number, off = self._given(self.gifts[placed.promotion], placed)
        asks = list(placed.asks)
        # As if the line were one thing that costs less from the start.
        rest = self.line(asks[number])[0] - off
        asks[number] = Ask(asks[number].ware, Decimal(1), rest)
        try:
            _, total = super().priced(msgspec.structs.replace(bare, asks=tuple(asks)))
        except No:
            # The discount is more than the gift has left.
            raise No(400, 422) from None
        return subtotal, total

    def _placed(self, sale: basket_model.Sale) -> basket_model.Sale:
        """The same sale with the store's prices, where it has some and nothing else was said."""
        if not sale.in_store:
            return sale
        asks = (
            msgspec.structs.replace(ask, price=self.here.get(ask.ware))
            if ask.price is None
            else ask
            for ask in sale.asks
        )
        return msgspec.structs.replace(sale, asks=tuple(asks))

    def _unit(self, ask: Ask) -> Decimal:
        return self.line(msgspec.structs.replace(ask, quantity=Decimal(1)))[0]

    def _given(self, gift: Gift, sale: basket_model.Sale) -> tuple[int, Decimal]:
        """Which line has the free unit, and what it comes to; what costs nothing is no gift."""
        found = [
            (self._unit(ask), number, self.line(ask)[0])
            for number, ask in enumerate(sale.asks)
            if ask.ware != "fee" and (gift.wares is None or ask.ware in gift.wares)
        ]
        worth = [one for one in found if one[2] > 0]
        if not worth:
            raise No(400)
        unit, number, cost = min(worth)
        off = min(unit, cost)
        return number, off if gift.most is None else min(off, gift.most)
