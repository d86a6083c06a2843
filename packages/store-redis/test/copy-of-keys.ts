import type { RedisProcess } from "@loopwright/simulator/node";

const copyAll = `for _, key in ipairs(redis.call("KEYS", ARGV[1] .. "*")) do
  redis.call("COPY", key, ARGV[2] .. key:sub(#ARGV[1] + 1), "REPLACE")
end`;
const removeAll = `for _, key in ipairs(redis.call("KEYS", ARGV[1] .. "*")) do redis.call("DEL", key) end`;

/** A copy of all keys with a prefix; what is given puts it in their place at once, as a restored backup would. */
export async function copyOfKeys(redis: RedisProcess, prefix: string): Promise<() => Promise<void>> {
  const kept = `kept:${prefix}`;
  await redis.command("EVAL", copyAll, "0", prefix, kept);
  return async () => {
    await redis.command("EVAL", `${removeAll} ${copyAll.replaceAll("ARGV[1]", "ARGV[3]")}`, "0", prefix, prefix, kept);
  };
}
