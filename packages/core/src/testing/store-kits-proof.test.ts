import { describe, it } from "vitest";
import { leaseKit } from "./lease-kit.ts";
import { leaseSaboteurs } from "./lease-saboteurs.ts";
import { fencingSaboteurs } from "./log-fencing-saboteurs.ts";
import { judgingSaboteurs } from "./log-judging-saboteurs.ts";
import { lifeSaboteurs } from "./log-life-saboteurs.ts";
import { writingSaboteurs } from "./log-writing-saboteurs.ts";
import { proveKit } from "./saboteur.ts";
import { sessionLogKit } from "./session-log-kit.ts";

describe("session log kit", () =>
  proveKit(it, sessionLogKit, [...writingSaboteurs, ...judgingSaboteurs, ...fencingSaboteurs, ...lifeSaboteurs]));
describe("lease kit", () => proveKit(it, leaseKit, leaseSaboteurs));
