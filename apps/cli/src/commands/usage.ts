import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import { openFile, telemetryPath } from "../compose/open-telemetry.ts";
import { exitCodes } from "../exit-code.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { print } from "./sessions.ts";

export interface UsageFlags {
  readonly telemetry?: string;
  readonly by?: string;
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
  readonly json?: boolean;
}

/** Prints tokens and cost, as `run --telemetry` has recorded them. @throws AgentError CONFIG_INVALID, INPUT_INVALID, STORE_UNAVAILABLE */
export async function showUsage({ telemetry = telemetryPath, by = "day,model", from, to, user, json }: UsageFlags): Promise<number> {
  if (!existsSync(resolve(telemetry)))
    throw new AgentError("CONFIG_INVALID", {
      message: `There are no records at \`${oneLine(telemetry, 100)}\`.`,
      fix: "Record them with `loopwright run --telemetry`, or name their file with `--telemetry <file>`.",
    });
  const { usageQueryOf } = await import("@loopwright/telemetry");
  const asked = Object.entries({ by, from, to, user }).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const query = usageQueryOf(new URLSearchParams(asked));
  const file = await openFile(telemetry);
  try {
    const sums = await file.usage.query(query);
    for (const sum of sums) {
      const { calls, input, cacheRead, cacheWrite, output, costUsd, unpricedCalls, ...keys } = sum;
      const names = Object.values(keys).map((name) => oneLine(name === "" ? "-" : name, 60));
      const unpriced = unpricedCalls > 0 ? `, ${unpricedCalls} without a price` : "";
      const tokens = `${input + cacheRead + cacheWrite} tokens read (${cacheRead} from the cache), ${output} written`;
      print(
        json
          ? jsonLine(sum)
          : `${names.join("  ")}  ${calls} ${calls === 1 ? "call" : "calls"}, ${tokens}, $${costUsd.toFixed(6)}${unpriced}`,
      );
    }
    if (sums.length === 0 && !json) process.stderr.write("Nothing was spent.\n");
    return exitCodes.ok;
  } finally {
    file.close();
  }
}
