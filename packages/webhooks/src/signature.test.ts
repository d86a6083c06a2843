import { describe, expect, it } from "vitest";
import { checkDelivery, keyOf, signedHeaders } from "./signature.ts";

const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
const delivery = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
const signed = signedHeaders(secrets, delivery);
const now = delivery.timestamp * 1_000;

describe("a signature", () => {
  it("is the one of the example that libraries of Standard Webhooks are tested with", () => {
    expect(signed["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    expect(checkDelivery(secrets, { headers: new Headers(signed), body: delivery.body }, now)).toEqual({ id: delivery.id });
  });

  it.each([
    ["another body", {}, '{"test": 2432232315}', now, "wrong signature"],
    ["another id", { "webhook-id": "msg_other" }, delivery.body, now, "wrong signature"],
    ["another time", { "webhook-timestamp": String(delivery.timestamp + 1) }, delivery.body, now, "wrong signature"],
    ["a time long past", {}, delivery.body, now + 301_000, "stale"],
    ["a time to come", {}, delivery.body, now - 301_000, "stale"],
    ["no signature", { "webhook-signature": "" }, delivery.body, now, "unsigned"],
    ["one of another version", { "webhook-signature": "v2,AAAA" }, delivery.body, now, "unsigned"],
    ["an empty one", { "webhook-signature": "v1," }, delivery.body, now, "wrong signature"],
    ["an id with a space", { "webhook-id": "a b" }, delivery.body, now, "unsigned"],
    ["a time that is no number", { "webhook-timestamp": "soon" }, delivery.body, now, "unsigned"],
  ])("is refused with %s", (_, changed, body, at, refused) => {
    expect(checkDelivery(secrets, { headers: new Headers({ ...signed, ...changed }), body }, at)).toEqual({ refused });
  });

  it("of one of two secrets counts while one takes the place of the other, and a short secret is refused", () => {
    const other = "another-secret-of-24-bytes-or-more";
    const headers = new Headers(signedHeaders([other], delivery));
    expect(checkDelivery([...secrets, other], { headers, body: delivery.body }, now)).toEqual({ id: delivery.id });
    expect(checkDelivery(secrets, { headers, body: delivery.body }, now)).toEqual({ refused: "wrong signature" });
    expect(() => keyOf("short")).toThrow("could be guessed");
    expect(() => keyOf("short")).not.toThrow("short ");
  });
});
