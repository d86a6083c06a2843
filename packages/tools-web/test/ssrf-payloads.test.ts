import { isAgentError } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import type { ResolveHost, WebPolicy } from "../src/index.ts";
import { parseWebUrl, webGuard } from "../src/web-guard.ts";

/** The reason of the refusal, or the addresses that it would connect to. */
async function verdictOf(text: string, options: { readonly policy?: WebPolicy; readonly resolve?: ResolveHost } = {}): Promise<string> {
  const resolve = options.resolve ?? (() => Promise.resolve(["93.184.216.34"]));
  try {
    const { addresses } = await webGuard(options.policy, resolve).admit(parseWebUrl(text));
    return addresses.join();
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return String(error.details?.["reason"]);
  }
}

const row = (id: string, reason: string, ...urls: readonly string[]) => urls.map((url) => ({ id, reason, url }));

const payloads = [
  ...row("F01", "blocked_address", "http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/", "http://017700000001/"),
  ...row("F01", "blocked_address", "http://0/", "http://0x.0x.0", "http://127.0.0.1./", "http://127.255.255.254/"),
  ...row(
    "F02",
    "blocked_address",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "ht\ntp://127.0.0.1/",
    "http:127.0.0.1",
    "http:\\\\127.0.0.1\\",
  ),
  ...row("F03", "blocked_address", "http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:a9fe:a9fe]/"),
  ...row(
    "F03",
    "blocked_address",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:7f00:1::]/",
    "http://[fd00:ec2::254]/",
  ),
  ...row(
    "F03",
    "blocked_address",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[ff02::1]/",
  ),
  ...row(
    "F03",
    "blocked_address",
    "http://[64:ff9b:1::1]/",
    "http://[2001::1]/",
    "http://[3fff::1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[5f00::1]/",
  ),
  ...row("F03", "invalid_url", "http://[fe80::1%25eth0]/", "http://[::1%lo]/", "http://[1::2::3]/"),
  ...row(
    "F04",
    "blocked_address",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://100.100.100.200/",
  ),
  ...row("F04", "blocked_address", "http://metadata.google.internal/", "http://192.168.257/", "http://10.1/", "http://198.18.0.1/"),
  ...row(
    "F04",
    "blocked_address",
    "http://192.0.0.192/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://168.63.129.16/",
    "http://172.31.255.255/",
  ),
  ...row(
    "F05",
    "blocked_address",
    "http://localhost./",
    "http://LOCALHOST%2e/",
    "http://localhost/",
    "http://a.localhost/",
    "http://printer.local/",
  ),
  ...row(
    "F08",
    "credentials_in_url",
    "http://good.com@127.0.0.1/",
    "http://user:pw@good.com/",
    "http://user@good.com/",
    "http://:pw@good.com/",
  ),
  ...row("F08", "blocked_address", "http://127.0.0.1#@good.com/", "http://127.0.0.1\\@good.com/", "http://127.0.0.1?@good.com/"),
  ...row("F09", "scheme_not_allowed", "file:///etc/passwd", "gopher://127.0.0.1:6379/_FLUSHALL", "ftp://good.com/", "data:text/html,x"),
  ...row("F09", "scheme_not_allowed", "blob:https://good.com/1", "javascript:alert(1)", "ws://good.com/", "wss://good.com/"),
  ...row("F09", "scheme_not_allowed", "http+unix://%2Fvar%2Frun%2Fdocker.sock/", "view-source:http://good.com/", "mailto:a@good.com"),
  ...row(
    "F10",
    "port_not_allowed",
    "http://good.com:6379/",
    "http://good.com:22/",
    "http://good.com:25/",
    "http://good.com:0/",
    "https://good.com:80/",
  ),
  ...row(
    "F10",
    "invalid_url",
    "http://good.com:99999/",
    "http://good.com:x/",
    "",
    "//good.com/",
    "good.com",
    "http://",
    `http://good.com/${"a".repeat(2_000)}`,
  ),
];

describe("the guard refuses before any connection (B100)", () => {
  it.each(payloads)("$id $url: $reason", async ({ url, reason }) => {
    expect(await verdictOf(url)).toBe(reason);
  });

  it("F05 names that resolve to an address of this machine or network, alone or beside a public one", async () => {
    const zone: Readonly<Record<string, readonly string[]>> = {
      "127.0.0.1.nip.io": ["127.0.0.1"],
      "x.localtest.me": ["127.0.0.1", "::1"],
      "both.example": ["93.184.216.34", "fd00::1"],
      "mapped.example": ["::ffff:10.0.0.1"],
      "zone.example": ["fe80::1%eth0"],
      "strange.example": ["not an address"],
    };
    const resolve: ResolveHost = (host) => Promise.resolve(zone[host] ?? []);
    for (const host of Object.keys(zone))
      expect([host, await verdictOf(`http://${host}/`, { resolve })]).toEqual([host, "blocked_address"]);
    expect(await verdictOf("http://nowhere.example/", { resolve })).toBe("host_not_found");
    expect(await verdictOf("http://nowhere.example/", { resolve: () => Promise.reject(new Error("ENOTFOUND")) })).toBe("host_not_found");
  });

  it("and admits public addresses of both families, on the usual ports and those of the policy", async () => {
    for (const url of [
      "http://good.com/",
      "https://good.com:443/a?b#c",
      "http://8.8.8.8/",
      "https://[2606:4700:4700::1111]/",
      "http://good.com./",
    ])
      expect([url, await verdictOf(url)]).toEqual([url, expect.stringMatching(/^[\d.:a-f]+$/)]);
    expect(await verdictOf("http://good.com:8080/", { policy: { ports: [8080] } })).toBe("93.184.216.34");
  });

  it("F13 hosts that the policy does not allow, before their names are looked up", async () => {
    const looked: string[] = [];
    const resolve: ResolveHost = (host) => {
      looked.push(host);
      return Promise.resolve(["93.184.216.34"]);
    };
    const policy = { allowedHosts: ["docs.example.com", "*.example.org"], blockedHosts: ["bad.example.org"] };
    const verdicts = [
      "docs.example.com",
      "a.b.example.org",
      "example.com",
      "example.org",
      "bad.example.org",
      "evilexample.org",
      "docs.example.com.evil.com",
    ];
    const seen = await Promise.all(verdicts.map((host) => verdictOf(`https://${host}/?q=secret`, { policy, resolve })));
    const no = "host_not_allowed";
    expect(seen).toEqual(["93.184.216.34", "93.184.216.34", no, no, no, no, no]);
    expect(looked).toEqual(["docs.example.com", "a.b.example.org"]);
  });
});

describe("a private origin of the policy", () => {
  const policy: WebPolicy = {
    privateOrigins: ["http://127.0.0.1:8123", "http://wiki.intranet:8080", "http://169.254.169.254", "http://bad.intranet"],
  };
  const zone: Readonly<Record<string, string>> = { "wiki.intranet": "10.0.0.7", "bad.intranet": "169.254.169.254" };
  const resolve: ResolveHost = (host) => Promise.resolve([zone[host] ?? "93.184.216.34"]);

  it("is admitted with exactly its scheme, host and port", async () => {
    expect(await verdictOf("http://127.0.0.1:8123/a", { policy, resolve })).toBe("127.0.0.1");
    expect(await verdictOf("http://wiki.intranet:8080/a", { policy, resolve })).toBe("10.0.0.7");
    expect(await verdictOf("http://127.0.0.1:8124/", { policy, resolve })).toBe("port_not_allowed");
    expect(await verdictOf("https://127.0.0.1:8123/", { policy, resolve })).toBe("port_not_allowed");
    expect(await verdictOf("http://127.0.0.1/", { policy, resolve })).toBe("blocked_address");
    expect(await verdictOf("http://wiki.intranet/", { policy, resolve })).toBe("blocked_address");
  });

  it("is refused where clouds keep the credentials of a machine, also by a name", async () => {
    expect(await verdictOf("http://169.254.169.254/latest", { policy, resolve })).toBe("blocked_address");
    expect(await verdictOf("http://bad.intranet/", { policy, resolve })).toBe("blocked_address");
  });

  it("cannot be reached by a redirect of a public page, and may redirect to itself and to public pages", async () => {
    const guard = webGuard(policy, resolve);
    const outside = await guard.admit(parseWebUrl("http://good.com/"));
    const inside = await guard.admit(parseWebUrl("http://wiki.intranet:8080/"));
    await expect(guard.admit(parseWebUrl("http://wiki.intranet:8080/"), outside)).rejects.toMatchObject({
      details: { reason: "blocked_address" },
    });
    await expect(guard.admit(parseWebUrl("http://127.0.0.1:8123/"), inside)).resolves.toMatchObject({ isPrivate: true });
    await expect(guard.admit(parseWebUrl("http://good.com/"), inside)).resolves.toMatchObject({ isPrivate: false });
  });

  it("that can never match is a mistake of the configuration", () => {
    for (const wrong of [
      { privateOrigins: ["http://a.intranet/"] },
      { privateOrigins: ["ftp://a"] },
      { ports: [0] },
      { allowedHosts: ["a.com/x"] },
    ])
      expect(() => webGuard(wrong)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
