import { describe, it } from "vitest";
import { clockKit } from "./clock-kit.ts";
import { clockSaboteurs } from "./clock-saboteurs.ts";
import { idSourceKit } from "./id-source-kit.ts";
import { idSourceSaboteurs } from "./id-source-saboteurs.ts";
import { loggerKit } from "./logger-kit.ts";
import { loggerSaboteurs } from "./logger-saboteurs.ts";
import { priceTableKit } from "./price-table-kit.ts";
import { priceTableSaboteurs } from "./price-table-saboteurs.ts";
import { proveKit } from "./saboteur.ts";

describe("price table kit", () => proveKit(it, priceTableKit, priceTableSaboteurs));
describe("clock kit", () => proveKit(it, clockKit, clockSaboteurs));
describe("id source kit", () => proveKit(it, idSourceKit, idSourceSaboteurs));
describe("logger kit", () => proveKit(it, loggerKit, loggerSaboteurs));
