import { memoryStore } from "@loopwright/core/memory";
import { accessPolicy, bearerTokens, type Principal } from "@loopwright/server";
import { createKnowledge, knowledgeRoutes, memoryKnowledgeStore } from "@loopwright/tools-knowledge";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { type PageScene, pageTest } from "./support/page-test.ts";

const tokenOf = (user: string): string => `${user}-0123456789abcdef`;
const users: { readonly [user: string]: Omit<Principal, "user"> } = {
  anne: { scope: "garden", roles: ["member"], memberships: [{ scope: "kitchen", roles: ["cook"] }] },
  ben: { scope: "kitchen" },
};

/** A server with users of two teams, and what belongs to each team. */
async function teams({ serve }: PageScene, cookies: boolean) {
  const store = memoryStore();
  const model = handModel();
  const knowledge = createKnowledge({ store: memoryKnowledgeStore() });
  await knowledge.add({ scope: "garden" }, { id: "manual", title: "Manual of pruning", text: "Prune in March." });
  const known = new Map(Object.entries(users).map(([user, rest]) => [tokenOf(user), { user, ...rest }]));
  const { url } = await serve({
    provider: model.provider,
    store,
    cookies,
    // Read at each request, so that a test may revoke a token.
    authenticate: (request) => bearerTokens(Object.fromEntries(known))(request, { isLocal: true, isExposed: false }),
    ...accessPolicy({ store }),
    routes: [...knowledgeRoutes(knowledge)],
  });
  const ask = (user: string, path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { Authorization: `Bearer ${tokenOf(user)}`, ...init.headers } });
  const session = (user: string, body: object, headers: Record<string, string> = {}) =>
    ask(user, "api/sessions", { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } });
  await session("anne", { id: "roses", title: "Roses of the garden" });
  await session("anne", { id: "soup", title: "Soup of the kitchen" }, { "X-Scope": "kitchen" });
  return { url, model, known, ask };
}

async function signIn(page: Page, user: string): Promise<void> {
  await page.getByLabel("Access token").fill(tokenOf(user));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Conversations" }).waitFor();
}

/** What the page keeps in the browser, where scripts can read it. */
const keptBy = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + document.cookie);

pageTest(
  "A34, A35, A63: a user of two teams signs in by cookie and switches: conversations and files are those of the team, and nothing of the other is left",
  async (scene) => {
    // The first request has no credentials.
    scene.expectErrors(/401/);
    const { url } = await teams(scene, true);
    const page = await scene.open(url);
    await look(page, "sign-in");
    await signIn(page, "anne");
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: "Roses of the garden" }).waitFor();
    expect(await keptBy(page)).not.toContain("0123456789");
    await page.goto(`${url}#/settings/files`);
    const place = page.getByRole("region", { name: "Files" });
    await place.getByText("The team has no files").waitFor();
    await place
      .getByLabel("Files to upload")
      .setInputFiles({ name: "plan of the beds.txt", mimeType: "text/plain", buffer: Buffer.from("tulips") });
    await place.getByText("plan of the beds.txt").waitFor();
    await place.getByRole("list", { name: "Knowledge base of the team" }).getByText("Manual of pruning").waitFor();
    await look(page, "files-garden");
    const [kept] = await Promise.all([
      page.waitForEvent("download"),
      place.getByRole("button", { name: "Download plan of the beds.txt" }).click(),
    ]);
    expect(kept.suggestedFilename()).toBe("plan of the beds.txt");
    const requests: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/(healthz|api\/(sessions|files|knowledge|agents|access))$/.test(pathname))
        requests.push(`${pathname} ${request.headers()["x-scope"] ?? ""}`.trim());
    });
    const team = page.getByLabel("Team", { exact: true });
    // A request of its own marks the switch: what the page reads before it, it still reads of the garden.
    await team.evaluate((field) => field.addEventListener("change", () => void fetch("healthz"), { capture: true, once: true }));
    await team.selectOption("kitchen");
    await list.getByRole("link", { name: "Soup of the kitchen" }).waitFor();
    await place.getByText("The team has no files").waitFor();
    await place.getByText("The knowledge base of the team is empty.").waitFor();
    // Everything was read again, in the new team alone.
    for (const path of [
      "/api/sessions kitchen",
      "/api/files kitchen",
      "/api/knowledge kitchen",
      "/api/agents kitchen",
      "/api/access kitchen",
    ])
      expect(requests).toContain(path);
    const switchedAt = requests.indexOf("/healthz");
    expect(switchedAt).toBeGreaterThanOrEqual(0);
    expect(requests.slice(switchedAt + 1).filter((request) => !request.endsWith(" kitchen"))).toEqual([]);
    expect(await page.content()).not.toMatch(/garden<\/dd>|Roses|plan of the beds|Manual/);
    expect(await team.evaluate((field) => field === document.activeElement)).toBe(true);
    await look(page, "files-kitchen");
    // An address of the other team leads nowhere.
    scene.expectErrors(/404/);
    await page.goto(`${url}#/c/roses`);
    await page.getByRole("alert").first().waitFor();
    expect(await page.content()).not.toContain("Roses");
    await page.goto(`${url}#/settings/files`);
    await page.reload();
    await list.getByRole("link", { name: "Soup of the kitchen" }).waitFor();
    await page.getByLabel("Team", { exact: true }).selectOption("garden");
    await list.getByRole("link", { name: "Roses of the garden" }).waitFor();
    await place.getByText("plan of the beds.txt").waitFor();
    expect(await list.getByText("Soup").count()).toBe(0);
  },
);

pageTest(
  "A34: a session that is open is left on a switch, drafts stay with their team, and messages go to the team that is shown",
  async (scene) => {
    scene.expectErrors(/401/);
    const { url, model, ask } = await teams(scene, true);
    const page = await scene.open(url);
    await signIn(page, "anne");
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: "Roses of the garden" }).click();
    await page.getByRole("heading", { name: "Roses of the garden" }).waitFor();
    await page.goto(`${url}#/`);
    await page.getByRole("textbox", { name: /message/i }).fill("words for gardeners");
    await list.getByRole("link", { name: "Roses of the garden" }).click();
    await page.getByLabel("Team", { exact: true }).selectOption("kitchen");
    await list.getByRole("link", { name: "Soup of the kitchen" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/");
    expect(await page.getByRole("textbox", { name: /message/i }).inputValue()).toBe("");
    const chat = chatPage(page);
    await chat.say("What is for lunch?");
    const answer = await model.next();
    answer.say("Soup.");
    answer.end();
    await chat.text("Soup.").waitFor();
    const inTeam = async (scope: string): Promise<number> => {
      const response = await ask("anne", "api/sessions", { headers: { "X-Scope": scope } });
      return ((await response.json()) as { readonly sessions: readonly unknown[] }).sessions.length;
    };
    expect([await inTeam("garden"), await inTeam("kitchen")]).toEqual([1, 2]);
  },
);

pageTest(
  "a sign-out ends the session at the server and leaves nothing of the user in the browser; the next user sees only what is its own",
  async (scene) => {
    scene.expectErrors(/401/);
    const { url } = await teams(scene, true);
    const page = await scene.open(url);
    await signIn(page, "anne");
    await page.getByRole("textbox", { name: /message/i }).fill("half a thought");
    const cookies = (): Promise<number> =>
      page
        .context()
        .cookies()
        .then(({ length }) => length);
    expect(await cookies()).toBe(1);
    await page.goto(`${url}#/settings/account`);
    const place = page.getByRole("region", { name: "Account" });
    await place.getByText("anne").waitFor();
    await look(page, "account");
    await place.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Access token").waitFor();
    expect(await cookies()).toBe(0);
    expect(await keptBy(page)).not.toMatch(/half a thought|anne|token/);
    await signIn(page, "ben");
    await page.getByText("ben", { exact: true }).waitFor();
    expect(await page.getByText("Roses of the garden").count()).toBe(0);
    expect(await page.getByLabel("Team", { exact: true }).count()).toBe(0);
  },
);

pageTest(
  "a token that is revoked ends the session of the page, which asks for another one, and a wrong one is refused with its reason",
  async (scene) => {
    scene.expectErrors(/401|404/);
    const { url, known } = await teams(scene, false);
    const page = await scene.open(url);
    await page.getByLabel("Access token").fill("wrong-0123456789abcdef");
    await page.getByLabel("Access token").press("Enter");
    await page.getByRole("alert").waitFor();
    await look(page, "sign-in-refused");
    await signIn(page, "anne");
    known.delete(tokenOf("anne"));
    await page.reload();
    await page.getByLabel("Access token").waitFor();
    expect(await page.getByText("Roses of the garden").count()).toBe(0);
  },
);

pageTest("a file is deleted after a question, and one that a conversation uses stays, with the reason", async (scene) => {
  scene.expectErrors(/401|409/);
  const { url, ask } = await teams(scene, true);
  const upload = async (name: string): Promise<string> => {
    const headers = { "Content-Type": "text/plain", "X-File-Name": name };
    const response = await ask("anne", "api/files", { method: "POST", body: name, headers });
    return ((await response.json()) as { readonly blob: string }).blob;
  };
  await upload("unused.txt");
  const blob = await upload("used.txt");
  const message = { role: "user", content: [{ type: "file", mediaType: "text/plain", source: { blob } }] };
  await ask("anne", "api/sessions/roses/messages", {
    method: "POST",
    body: JSON.stringify({ message }),
    headers: { "Content-Type": "application/json" },
  });
  const page = await scene.open(url);
  await signIn(page, "anne");
  await page.goto(`${url}#/settings/files`);
  const files = page.getByRole("list", { name: "Files of the team" });
  const dialog = page.getByRole("dialog");
  await files.getByRole("button", { name: "Delete unused.txt" }).click();
  await dialog.getByRole("button", { name: "Keep" }).click();
  await dialog.waitFor({ state: "detached" });
  await files.getByRole("button", { name: "Delete unused.txt" }).click();
  expect(await axeProblems(page)).toEqual([]);
  await look(page, "file-deletion");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await files.getByText("unused.txt", { exact: true }).waitFor({ state: "detached" });
  await files.getByRole("button", { name: "Delete used.txt" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Sessions use the file").first().waitFor();
  await page.reload();
  await files.getByText("used.txt", { exact: true }).waitFor();
  expect(await files.getByText("unused.txt", { exact: true }).count()).toBe(0);
});

const looks: readonly { readonly name: string; readonly options: BrowserContextOptions }[] = [
  { name: "narrow", options: { colorScheme: "light", viewport: { width: 360, height: 740 } } },
  { name: "narrow-dark", options: { colorScheme: "dark", viewport: { width: 360, height: 740 }, hasTouch: true } },
  { name: "wide-dark", options: { colorScheme: "dark" } },
];

for (const { name, options } of looks)
  pageTest(`sign-in, team switch, account and files fit, and axe finds nothing wrong (${name})`, async (scene) => {
    scene.expectErrors(/401/);
    const { url, ask } = await teams(scene, true);
    await ask("anne", "api/files", {
      method: "POST",
      body: "x",
      headers: { "Content-Type": "text/plain", "X-File-Name": `${"a-long-name-".repeat(12)}.txt` },
    });
    const page = await scene.open(url, options);
    const sound = async (what: string): Promise<void> => {
      await look(page, `${what}-${name}`);
      expect(await axeProblems(page), what).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${what} scrolls sideways`).toBe(false);
    };
    await sound("account-sign-in");
    // Without a mouse.
    await page.keyboard.press("Tab");
    await page.keyboard.type(tokenOf("anne"));
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: /message/i }).waitFor();
    for (const [id, words] of [
      ["account", "Signed in until"],
      ["files", "a-long-name"],
    ] as const) {
      await page.goto(`${url}#/settings/${id}`);
      await page.getByText(words).first().waitFor();
      await sound(`account-${id}`);
    }
    await page.goto(`${url}#/`);
    if (options.viewport)
      await page
        .getByRole("button", { name: /conversations/i })
        .first()
        .click();
    await page.getByLabel("Team", { exact: true }).waitFor();
    await sound("account-team");
  });
