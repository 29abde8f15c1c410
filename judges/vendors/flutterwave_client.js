// Flutterwave's own client against the simulator: `open` before somebody pays, `after` then.
// Its form of a charge knows neither narration nor is_permanent, which its documents name.
const assert = require("node:assert");
const Flutterwave = require("flutterwave-node-v3");

const [, , step, root, reference] = process.argv;
const flw = new Flutterwave(
  "FLWPUBK_TEST-of-a-simulator",
  "FLWSECK_TEST-of-a-simulator",
  `${root}/`,
);

async function open() {
  const charge = await flw.Charge.bank_transfer({
    tx_ref: reference,
    amount: "1500.50",
    email: "payer@example.com",
    currency: "NGN",
    expires: 3600,
  });
  assert.equal(charge.status, "success");
  const { authorization } = charge.meta;
  assert.match(authorization.transfer_account, /^[0-9]{10}$/);
  assert.equal(authorization.mode, "banktransfer");
}

async function after() {
  const { data: paid } = await flw.Transaction.verify_by_tx({ tx_ref: reference });
  assert.equal(paid.status, "successful");
  assert.equal(paid.amount, 1500.5);
  const verified = await flw.Transaction.verify({ id: paid.id });
  assert.deepEqual(verified.data, paid);
  const refund = await flw.Transaction.refund({ id: String(paid.id), amount: 500 });
  assert.equal(refund.data.amount_refunded, 500);
  const sent = {
    account_bank: "058", account_number: "0123456789", amount: 200, currency: "NGN",
    narration: "Withdrawal", reference: `${reference}-out`, debit_currency: "NGN",
  };
  const transfer = await flw.Transfer.initiate({ ...sent });
  assert.equal(transfer.data.status, "NEW");
  assert.equal((await flw.Transfer.initiate({ ...sent })).status, "error");
  const listed = await flw.Transfer.fetch({ reference: sent.reference });
  assert.equal(listed.data[0].id, transfer.data.id);
  const one = await flw.Transfer.get_a_transfer({ id: transfer.data.id });
  assert.equal(one.data.reference, sent.reference);
  const name = await flw.Misc.verify_Account({ account_number: "0123456789", account_bank: "058" });
  assert.equal(name.data.account_name, "ADA OKAFOR");
  const banks = await flw.Bank.country({ country: "NG" });
  assert.ok(banks.data.some((bank) => bank.code === "058"));
  const balances = await flw.Misc.bal();
  assert.equal(balances.status, "success");
}

({ open, after })[step]().then(
  () => console.log(`flutterwave ${step}: fine`),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
