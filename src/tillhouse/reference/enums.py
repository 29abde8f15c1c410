"""The lists of words that have a name of their own: a field that holds one, and its sentence."""

ENUMS: dict[str, tuple[str, str]] = {
    "AdjustmentKind": (
        "NewAdjustment.kind",
        "Why stock changes: `purchase` and `opening` add, `waste` takes away, `adjustment` does "
        "either.",
    ),
    "BusinessType": ("NewAccount.business_type", "The line of business."),
    "Channel": ("NewOrder.channel", "Where an order came from."),
    "ConnectionStatus": ("Endpoint.status", "Whether something is in use or switched off."),
    "ConversationStatus": (
        "Conversation.status",
        "`open` is to be answered; `snoozed` opens again by itself; `closed` is done. A message "
        "of the customer opens each.",
    ),
    "DebtStatus": (
        "Debt.status",
        "`active` while something remains; `paid`; `voided` with its order cancelled, scheduled "
        "again, refunded or given to another customer; `removed` with its order deleted.",
    ),
    "DeliveryStatus": (
        "Delivery.status",
        "`pending` until an attempt succeeds (`delivered`) or the last one fails (`failed`).",
    ),
    "DepositStatus": ("Deposit.status", "How far the payment into a virtual account is."),
    "Direction": ("Message.direction", "`inbound` from the customer, `outbound` to the customer."),
    "BookingSource": ("Reservation.source", "Where a booking came from."),
    "DocumentType": ("Guest.document_type", "A kind of document that a guest shows."),
    "FoundKind": ("Found.kind", "The list that a thing is of which a search found."),
    "RoomStatus": (
        "HotelRoom.status",
        "Whether a room can be moved into: one that is `out_of_service` can't be booked.",
    ),
    "AgentScript": ("Agent.script", "A conversation that an agent can lead."),
    "AgentStatus": ("Agent.status", "Only an `active` agent calls."),
    "AgentTool": (
        "Agent.tools",
        "Something that an agent may do: look for the customer's order, send a payment link, "
        "confirm a scheduled order; look for the guest's reservation, confirm it, cancel it, note "
        "what the guest asks for; or note that somebody is not to be called any more.",
    ),
    "AttachmentKind": (
        "Attachment.kind", "What a file is, by its content; customers alone send a `sticker`.",
    ),
    "AttachmentStatus": (
        "Attachment.status",
        "`uploading` until its bytes are sent, `fetching` until they have come from WhatsApp, "
        "then `ready`, or `failed`.",
    ),
    "AnsweredBy": ("VoiceCall.answered_by", "A person or a machine, as far as that can be told."),
    "CallStatus": (
        "VoiceCall.status",
        "How far a call is: `queued`, `dialing`, `ringing` and `in_progress`, then one of "
        "`completed`, `missed` (not reached), `failed` and `cancelled`.",
    ),
    "EndedBy": ("VoiceCall.ended_by", "The side that ended a call."),
    "QueueReason": (
        "VoiceCall.queue_reason",
        "What a queued call waits for: a slot of its number (`concurrency`), the pace of its "
        "number (`rate`), the hours in which people are called (`quiet_hours`), the next attempt "
        "(`retry_backoff`), a paused number, or its time (`scheduled`).",
    ),
    "RecordingStatus": (
        "VoiceCall.recording_status",
        "`ready` can be fetched; `deleted` is older than recordings are kept.",
    ),
    "SuppressionReason": ("Suppression.reason", "Why somebody is not called."),
    "TelephonyProvider": (
        "VoiceNumber.provider", "How calls reach a telephone; the `simulator` reaches none.",
    ),
    "TranscriptStatus": (
        "VoiceCall.transcript_status",
        "`in_progress` while people talk, `ready` once the transcript is whole.",
    ),
    "TurnRole": ("Turn.role", "A side of a conversation, or what was done in it."),
    "VoiceNumberStatus": (
        "VoiceNumber.status", "Calls from a `paused` number wait until it is `active` again.",
    ),
    "Runtime": (
        "Agent.runtime",
        "The kind of program that leads an agent's conversations: a script (`scripted`) or a "
        "language model (`chat`).",
    ),
    "VoicemailAction": ("Agent.voicemail_action", "What an agent does when a machine answers."),
    "Environment": ("App.environment", "The book: `test` reaches no real person, `live` is real."),
    "EventName": ("NewEndpoint.events", "A type of event that an endpoint can subscribe to."),
    "FolioMethod": (
        "NewFolioPayment.method",
        "How money of a stay is paid, or handed back, at the desk.",
    ),
    "FolioRefundMethod": (
        "NewFolioRefund.method",
        "How money of a stay is handed back; `cloove_pay`: through its payment provider.",
    ),
    "FolioPaymentKind": (
        "FolioPayment.kind",
        "`payment` came in; `refund` was handed back; `reversal` was taken back by the payment "
        "provider.",
    ),
    "NoShowPolicy": (
        "HotelSettings.no_show",
        "What the night audit does with bookings whose guests didn't come: `release` frees their "
        "room, `keep` leaves them booked.",
    ),
    "KeyStatus": ("Key.status", "Only an `active` key is accepted."),
    "LineType": ("ItemShown.line_type", "`product` is sold; a `fee` has no stock and no tax."),
    "LinkCondition": (
        "PaymentLink.payment_condition",
        "What was unusual: `partial` payments, more than was asked for (`over`, also a second "
        "payment), after the end of the link (`late`), or taken back by the bank (`reversed`).",
    ),
    "LinkStatus": (
        "PaymentLink.status",
        "`active` asks to be paid; `PAID`, also when its target was paid otherwise; `EXPIRED`; "
        "`CANCELLED`, by a request or with its target.",
    ),
    "MessageStatus": (
        "Message.delivery_status",
        "How far a message got. `unknown`: no clear answer came, so it is never sent again.",
    ),
    "MoveActorType": ("MoveActor.type", "An API key, a person, or Tillhouse itself."),
    "MoveKind": ("StockMove.kind", "Why a level of stock changed."),
    "MessageReport": (
        "MessageDelivery.delivery_status", "How far a message to a customer got.",
    ),
    "NotificationReason": (
        "Notification.reason",
        "Why a customer was not told of a stage; of several reasons the first is given.",
    ),
    "NotificationStatus": ("Notification.status", "Whether a customer was told of a stage."),
    "OrderStatus": ("Order.status", "Where an order stands."),
    "PaymentKind": (
        "PaymentShown.kind",
        "`payment` is money that came in, `correction` takes back what was said to have come in.",
    ),
    "PayoutAccountStatus": (
        "PayoutAccount.status",
        "`checking` until the provider has named the holder, then `active`, or `failed`; "
        "`inactive` once it was removed.",
    ),
    "DisputeState": (
        "Dispute.status",
        "`evidence_due` waits for evidence, `opened` is being decided, `won` and `lost` are over.",
    ),
    "WithdrawalStatus": (
        "Withdrawal.status",
        "`requested`: held, and not sent; `processing`: sent, with its end unknown; `completed`, "
        "`failed` or `cancelled`; `reversed`: completed, then sent back.",
    ),
    "PaymentMethod": ("Order.payment_method", "How an order is paid."),
    "GivenPaymentMethod": (
        "NewOrder.payment_method",
        "How an order is paid, in a request; `card` is kept and shown as `pos`.",
    ),
    "PaymentState": (
        "PaymentShown.status",
        "`successful` money counts; `pending` waits for an outcome, `failed` never came, "
        "`reversed` went back.",
    ),
    "PaymentProvider": ("ProviderShown.provider", "Who collects money for the business."),
    "PaymentPlace": (
        "ProviderAbilities.opens",
        "An `account` number to transfer to, or a `page` of the provider's to pay on.",
    ),
    "PaymentStatus": (
        "Order.payment_status",
        "`paid` when the amount paid covers the total, `partial` above 0, else `pending`.",
    ),
    "OwedType": ("NewLink.target_type", "The kind of thing that is owed."),
    "PaymentTarget": ("PaidLink.target_type", "What a payment link was made for."),
    "ProductType": (
        "Product.type",
        "`simple` is one thing, `variable` is sold by variants, `bundle` consists of components, "
        "`service` has no stock.",
    ),
    "ProviderStatus": ("ProviderShown.status", "Whether the book has secrets of the provider."),
    "PromotionScope": (
        "Promotion.scope", "What a promotion counts for: the whole order, products or categories.",
    ),
    "PromotionType": (
        "Promotion.type",
        "`percent` and `fixed` take off so much, `free_item` one unit of the cheapest item.",
    ),
    "Provider": ("Message.provider", "Who carries messages."),
    "RecoverableStatus": ("Recovery.status", "The deliveries that can be queued again."),
    "ReservationStatus": (
        "Reservation.status",
        "How far a stay is: `booked`, `checked_in`, `checked_out`; or `cancelled`, or `no_show` "
        "when the guests didn't come.",
    ),
    "Risk": ("ScopeShown.risk", "How much harm a key with this scope can do in wrong hands."),
    "Role": ("Staff.role", "What a person may do in the business."),
    "RotationStatus": ("Settings.rotation_status", "Whether the secret was ever replaced."),
    "ScopeName": ("NewKey.scopes", "A permission that an API key can have."),
    "ServiceMode": ("Order.service_mode", "How the customer is served."),
    "ServiceRequestCategory": (
        "ServiceRequest.category", "The kind of work that a guest asks for.",
    ),
    "ServiceRequestSource": (
        "ServiceRequest.source",
        "How the wish was heard: from the guest, by staff, in a call or in a message.",
    ),
    "ServiceRequestStatus": (
        "ServiceRequest.status",
        "`open` is to be seen to; somebody does in `in_progress`; `done` and `cancelled` are over.",
    ),
    "SessionStatus": ("Session.status", "Whether guests still sit at the table."),
    "SettableStatus": ("OrderPatch.status", "A status that a request may set."),
    "Stage": ("TicketShown.status", "A stage of a kitchen ticket."),
    "StockPolicy": (
        "Variant.stock_policy", "Whether more may be sold than there is: `allow`, or `deny`.",
    ),
    "ExpenseMethod": ("Expense.method", "How an expense was paid."),
    "MemberStatus": ("MemberShown.status", "Whether a person has joined, or is only invited."),
    "EntryKind": (
        "LedgerEntry.kind",
        "The reason for an entry of the books (docs/finance.md tells each); `reversal` takes an "
        "earlier entry back.",
    ),
    "LedgerAccount": (
        "AccountBalance.account",
        "A kind of account of the books: where money is, who owes it, and what it was for.",
    ),
    "TransactionDirection": (
        "Transaction.direction",
        "`in`: the money came to the business; `out`: it left.",
    ),
    "TransactionMethod": ("Transaction.method", "How the money of a transaction moved."),
    "TransactionStatus": (
        "Transaction.status",
        "`pending` and `processing` wait for an outcome: `successful` or `failed`. `reversed`: the "
        "money went back.",
    ),
    "TransactionType": (
        "Transaction.type",
        "What a transaction is: money for a `sale` or a debt (`debt_payment`), into or out of the "
        "wallet, a `refund` or another `reversal`, a `fee`, an `expense`, `credit` of a customer, "
        "or a correction (`adjustment`).",
    ),
    "SubscriptionStatus": ("Subscription.status", "Where the subscription of a business stands."),
}  # fmt: skip
