import { AgentError } from "@loopwright/core";
import { memorySecrets, randomIds, scripted, systemClock } from "@loopwright/core/memory";
import type { SecretStore } from "@loopwright/core/ports";
import { memoryRecords, providerRoutes, providerSettings, settingsRoutes, userSettings } from "@loopwright/user-settings";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import type { ServePageOptions } from "./serve.ts";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

const key = "sk-CANARY-0123456789";

interface Deployment {
  readonly options: ServePageOptions;
  readonly secrets: SecretStore;
}

/** A server whose users may bring models of one vendor, which refuses the key `sk-bad`. */
function deployment(mode: "AllowUserProviders" | "PlatformOnly" = "AllowUserProviders"): Deployment {
  const [records, secrets] = [memoryRecords(), memorySecrets()];
  const settings = providerSettings({
    ...{ mode, records, secrets, ids: randomIds, clock: systemClock },
    builders: {
      acme: {
        title: "Acme",
        defaultModel: "acme-small",
        create({ apiKey, model }) {
          if (apiKey !== "sk-bad") return scripted(() => ({ text: `From ${model}.` }));
          return scripted(() => {
            throw new AgentError("MODEL_AUTH", { message: "The vendor refused the key." });
          });
        },
      },
    },
  });
  const preferences = userSettings({ records });
  const options: ServePageOptions = {
    provider: scripted(() => ({ text: "From the deployment." })),
    routes: [...providerRoutes(settings), ...settingsRoutes(preferences)],
    resolveModel: (question) => settings.resolveModel(question),
  };
  return { options, secrets };
}

async function sound(page: Page, name: string): Promise<void> {
  await look(page, name);
  expect(await axeProblems(page), name).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${name} scrolls sideways`).toBe(false);
}

const narrow: BrowserContextOptions = { colorScheme: "dark", viewport: { width: 360, height: 740 } };

pageTest("A56: a model is added, used, tested, changed and deleted in the settings, and its key is never shown again", async (scene) => {
  const { options, secrets } = deployment();
  const { url, client } = await scene.serve(options);
  const page = await scene.open(url, { colorScheme: "light" });
  await page.goto(`${url}#/settings/models`);
  const place = page.getByRole("region", { name: "Models" });
  await place.getByText("You have not added a model yet.").waitFor();
  await place.getByRole("button", { name: "Add a model" }).click();
  const form = place.getByRole("form", { name: "Add a model" });
  expect(await form.getByLabel("Key").getAttribute("type")).toBe("password");
  await form.getByLabel("Key").fill(key);
  await form.getByLabel("Name", { exact: true }).fill("Mine");
  await sound(page, "own-models-form");
  await form.getByRole("button", { name: "Save" }).click();
  await place.getByRole("heading", { name: /^Mine/ }).waitFor();
  await place.getByRole("button", { name: "Test Mine" }).click();
  await place.getByText(/acme-small answered after/).waitFor();
  await sound(page, "own-models-list");
  expect(await page.content()).not.toContain(key);
  const chat = chatPage(page);
  await page.goto(`${url}#/`);
  await chat.say("Hello");
  await chat.text("From acme-small.").waitFor();
  await chat.rested();
  await page.goto(`${url}#/settings/models`);
  await place.getByRole("button", { name: "Stop using Mine" }).click();
  await place.getByRole("button", { name: "Use Mine" }).click();
  await place.getByRole("button", { name: "Edit Mine" }).click();
  const edit = place.getByRole("form", { name: "Edit Mine" });
  expect(await edit.getByLabel("Key").inputValue()).toBe("");
  await edit.getByLabel("Model", { exact: true }).fill("acme-large");
  await edit.getByLabel("Key").fill("sk-bad");
  await edit.getByRole("button", { name: "Save" }).click();
  await place.getByRole("button", { name: "Test Mine" }).click();
  await place.getByText("MODEL_AUTH").waitFor();
  await sound(page, "own-models-refused");
  const [mine] = (await client.providers.list()).providers;
  expect(mine).toMatchObject({ model: "acme-large", active: true });
  await place.getByRole("button", { name: "Delete Mine" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Mine?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await place.getByText("You have not added a model yet.").waitFor();
  expect((await client.providers.list()).providers).toEqual([]);
  expect(await secrets.names("local")).toEqual([]);
});

pageTest(
  "A56: a change that another page has overtaken says so and loses nothing, and what the server refuses is shown where it was typed",
  async (scene) => {
    scene.expectErrors(/40\d|409/);
    const { url, client } = await scene.serve(deployment().options);
    const { instanceId } = await client.providers.add({ providerId: "acme", model: "acme-small", displayName: "Mine", key });
    const page = await scene.open(url, narrow);
    await page.goto(`${url}#/settings/models`);
    const place = page.getByRole("region", { name: "Models" });
    await place.getByRole("button", { name: "Edit Mine" }).click();
    const form = place.getByRole("form", { name: "Edit Mine" });
    await form.getByLabel("Key").fill("key with spaces");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("INPUT_INVALID").waitFor();
    await client.providers.change(instanceId, { displayName: "Ours" });
    await form.getByLabel("Key").fill("");
    await form.getByLabel("Model", { exact: true }).fill("acme-large");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("STORE_CONFLICT").waitFor();
    await sound(page, "own-models-conflict-narrow-dark");
    await form.getByRole("button", { name: "Cancel" }).click();
    await place.getByRole("heading", { name: /^Ours/ }).waitFor();
    expect((await client.providers.list()).providers[0]).toMatchObject({ displayName: "Ours", model: "acme-small" });
  },
);

pageTest("A56: everything is done by keyboard alone", async (scene) => {
  const { url, client } = await scene.serve(deployment().options);
  const page = await scene.open(url, narrow);
  await page.goto(`${url}#/settings/models`);
  const place = page.getByRole("region", { name: "Models" });
  await place.getByRole("button", { name: "Add a model" }).press("Enter");
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("SELECT");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type(key);
  await sound(page, "own-models-form-narrow-dark");
  await page.keyboard.press("Enter");
  await place.getByRole("heading", { name: /^Acme acme-small/ }).waitFor();
  // What had the focus is gone: Tab begins at the top of the list.
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Stop using Acme acme-small");
  await sound(page, "own-models-list-narrow-dark");
  await place.getByRole("button", { name: /^Delete/ }).press("Enter");
  await page.keyboard.press("Escape");
  await place.getByRole("button", { name: /^Delete/ }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
  await place.getByText("You have not added a model yet.").waitFor();
  expect((await client.providers.list()).providers).toEqual([]);
});

pageTest(
  "A53: under PlatformOnly the settings show one entry that cannot be changed; a server without own keys has no such section",
  async (scene) => {
    const { url } = await scene.serve(deployment("PlatformOnly").options);
    const page = await scene.open(url);
    await page.goto(`${url}#/settings/models`);
    const place = page.getByRole("region", { name: "Models" });
    await place.getByText("cannot be changed").waitFor();
    expect(await place.getByRole("button").count()).toBe(0);
    await sound(page, "own-models-platform");
    const plain = await scene.serve();
    const other = await (await scene.context()).newPage();
    // The answer that names the routes of the server decides which sections are shown.
    const access = other.waitForResponse((response) => new URL(response.url()).pathname === "/api/access");
    await other.goto(`${plain.url}#/settings`);
    const list = other.getByRole("navigation", { name: "Settings" });
    await list.getByRole("link", { name: "Agents" }).waitFor();
    await (await access).finished();
    expect(await list.getByRole("link", { name: /Models|Preferences/ }).count()).toBe(0);
  },
);

pageTest("B107: plan and preferences are shown and changed, and count from the next message", async (scene) => {
  const { url, client } = await scene.serve(deployment().options);
  const page = await scene.open(url, narrow);
  await page.goto(`${url}#/settings/preferences`);
  const form = page.getByRole("form", { name: "Preferences" });
  await form.getByText("Your plan: default").waitFor();
  await form.getByLabel("Answer me as I describe it here").check();
  await form.getByLabel("How to answer").fill("Be brief.");
  await form.getByLabel("Rule for all my conversations").fill("Use metres.");
  await form.getByLabel("Agents with a memory may remember facts about me").uncheck();
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("Saved. It counts from your next message.").waitFor();
  await sound(page, "preferences-narrow-dark");
  expect(await client.settings.read()).toEqual({
    ...{ plan: "default", personalization: { enabled: true, text: "Be brief." }, memory: { enabled: false }, projectRule: "Use metres." },
  });
  await form.getByLabel("Rule for all my conversations").fill("");
  await form.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await client.settings.read()).projectRule).toBeUndefined();
});
