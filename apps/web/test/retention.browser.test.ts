import { scripted } from "@loopwright/core/memory";
import { memoryRecords, retentionRoutes, scopeRetention } from "@loopwright/user-settings";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

for (const viewport of [
  { width: 1_200, height: 800 },
  { width: 360, height: 740 },
])
  pageTest(`those that administer a team set how long its conversations are kept, at ${viewport.width} px`, async ({ serve, open }) => {
    const retention = scopeRetention({ records: memoryRecords() });
    let isAdmin = true;
    const { url } = await serve({
      provider: scripted(() => ({ text: "Hello." })),
      routes: [...retentionRoutes(retention, { mayChange: () => isAdmin })],
    });
    const page = await open(url, { colorScheme: "light", viewport });
    await page.goto(`${url}#/settings/retention`);
    const place = page.getByRole("region", { name: "Retention", exact: true });
    await place.getByText("Conversations of this team are kept.").waitFor();
    await place.getByRole("spinbutton").fill("30");
    await page.keyboard.press("Enter");
    await place.getByText("Conversations of this team are erased 30 days after their last change").waitFor();
    await place.getByRole("status").getByText("Saved.").waitFor();
    expect(await retention.rules()).toEqual([expect.objectContaining({ keepMs: 30 * 86_400_000 })]);
    await look(page, `retention-${viewport.width}`);
    expect(await axeProblems(page)).toEqual([]);
    await place.getByRole("spinbutton").fill("");
    await page.keyboard.press("Enter");
    await place.getByText("Conversations of this team are kept.").waitFor();
    expect(await retention.rules()).toEqual([]);
    // Members read it.
    isAdmin = false;
    await page.reload();
    await place.getByText("Conversations of this team are kept.").waitFor();
    expect(await place.getByRole("spinbutton").count()).toBe(0);
  });
