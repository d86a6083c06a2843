import type { RedisProcess } from "@loopwright/simulator/node";

/** How many commands Redis has run, those inside of scripts among them. */
export async function commandCount(redis: Pick<RedisProcess, "command">): Promise<number> {
  const stats = String(await redis.command("INFO", "commandstats"));
  const calls = [...stats.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)].filter(
    ([, name]) => !/^(info|config|ping|hello|client|quit)/.test(name ?? ""),
  );
  return calls.reduce((sum, [, , count]) => sum + Number(count), 0);
}
