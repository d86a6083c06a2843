import { expect, it } from "vitest";
import { doubtfulHosts } from "./doubtful-hosts.ts";

it.each([
  ["https://\u0430pple.com/login", "\u0430pple.com", "xn--pple-43d.com", "scripts"],
  ["https://\u0430\u0440\u0440\u04cf\u0435.com", "\u0430\u0440\u0440\u04cf\u0435.com", "xn--80ak6aa92e.com", "letters"],
  ["see ftp://m\u00fcller.example:21/x", "m\u00fcller.example", "xn--mller-kva.example", "letters"],
  ["https://xn--pple-43d.com", "xn--pple-43d.com", "xn--pple-43d.com", "encoded"],
  ["https://example\u3002com/", "example\u3002com", "example.com", "letters"],
  ["https://exam\u200bple.com/", "exam\u200bple.com", "example.com", "letters"],
  ["https://bank.example@evil.example/x", "bank.example@evil.example", "evil.example", "name"],
  ["to: someone@\u0440aypal.com", "\u0440aypal.com", "xn--aypal-uye.com", "scripts"],
  ["curl \u0440aypal.com", "\u0440aypal.com", "xn--aypal-uye.com", "scripts"],
  ["HTTPS:\\\\xn--80ak6aa92e.com", "xn--80ak6aa92e.com", "xn--80ak6aa92e.com", "encoded"],
])("M07: %s is reported with the host that is really asked", (text, written, real, why) => {
  expect(doubtfulHosts({ request: [{ text }] })).toEqual([{ written, real, why }]);
  // In the name of a member too.
  expect(doubtfulHosts({ [text]: 1 })).toEqual([{ written, real, why }]);
});

it.each([
  "https://example.com/m\u00fcller?q=\u043f\u0440\u0438\u0432\u0435\u0442#\u00e4",
  "m\u00fcller.pdf and \u0444\u0430\u0439\u043b.txt",
  "someone@example.com at http://127.0.0.1:8080 or http://[::1]:80/",
  "ssh://git@github.com/x",
  "a line\nhttps://example.com\nand more",
  "A\u0431. 3.5 v1.2.3",
])("%j is not reported", (text) => {
  expect(doubtfulHosts({ text })).toEqual([]);
});

it("each is reported once, and a flood of them only in part", () => {
  expect(doubtfulHosts(["https://\u00e4.example", "https://\u00e4.example/2"])).toHaveLength(1);
  expect(doubtfulHosts(Array.from({ length: 100 }, (_, at) => `https://\u00e4${at}.example`))).toHaveLength(20);
});
