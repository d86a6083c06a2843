import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Saboteur } from "../src/kit/saboteur.ts";
import { channelSaboteurs } from "./channel/channel-saboteurs.ts";
import { channelLossSaboteurs } from "./channel/loss-saboteurs.ts";
import { channelNodeSaboteurs } from "./channel/node-saboteurs.ts";
import { channelScopeSaboteurs } from "./channel/scope-saboteurs.ts";
import { leaseSaboteurs } from "./lease/lease-saboteurs.ts";
import { fencingSaboteurs } from "./log/fencing-saboteurs.ts";
import { judgingSaboteurs } from "./log/judging-saboteurs.ts";
import { notifyingSaboteurs } from "./log/notifying-saboteurs.ts";
import { leaseOverTwoSaboteurs, logOverTwoSaboteurs } from "./log/over-two-saboteurs.ts";
import { answerSaboteurs } from "./provider/answer-saboteurs.ts";
import { breakSaboteurs } from "./provider/break-saboteurs.ts";
import { errorSaboteurs } from "./provider/provider-saboteurs.ts";
import { requestSaboteurs } from "./provider/request-saboteurs.ts";

/** The saboteurs that other tests of this folder prove: each breaks these cases and no other. */
const proven: readonly { readonly defect: string; readonly breaks: string | Saboteur<never>["breaks"] }[] = [
  ...[...answerSaboteurs, ...breakSaboteurs, ...errorSaboteurs, ...requestSaboteurs],
  ...[...fencingSaboteurs, ...judgingSaboteurs, ...notifyingSaboteurs, ...leaseSaboteurs, ...logOverTwoSaboteurs, ...leaseOverTwoSaboteurs],
  ...[...channelSaboteurs, ...channelLossSaboteurs, ...channelNodeSaboteurs, ...channelScopeSaboteurs],
];

const page = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8");
const table = page.slice(page.indexOf("<!-- planted bugs -->"), page.indexOf("<!-- /planted bugs -->"));
const rows = [...table.matchAll(/^\| [^|]+ \| ([^|]+) \| (`[^|]+`) \|$/gm)].map(([, defect = "", cases = ""]) => ({
  defect,
  cases: cases.split(", ").map((id) => id.slice(1, -1)),
}));

it("the page on tests lists bugs of providers, stores and channels", () => {
  expect(rows).toHaveLength(43);
});

it.each(rows)("the kits catch an adapter that $defect, as the page on tests states", ({ defect, cases }) => {
  const breaks = proven.flatMap((saboteur) => (saboteur.defect === defect ? saboteur.breaks : []));
  expect(breaks).toEqual(expect.arrayContaining(cases));
});
