import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAgent, createSession, execute, systemText, textOf } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { findIsolation } from "@loopwright/tools-cli";
import { describe, expect, it } from "vitest";
import { buildSkills, createSkills, loadSkills, surveySkills } from "../src/index.ts";
import { folderWith, skillText } from "./folder.ts";

const { namespaces } = await findIsolation();
const showAll =
  'console.log(JSON.stringify({ argv: process.argv.slice(2), env: process.env, net: Object.keys(require("node:os").networkInterfaces()).length }));';
const needs = "metadata:\n  loopwright:\n    variables: { required: [ACME_TOKEN] }\n";

const orders = {
  "orders/SKILL.md": skillText("orders", {
    more: needs,
    body: "Call find_order.\n\n## Tool: find_order\n\nFinds an order.\n\n| name | type | required |\n|---|---|---|\n| number | integer | yes |",
  }),
  "orders/scripts/find_order.js": showAll,
  "style/SKILL.md": skillText("style", { body: "Write short sentences." }),
};
const environment = { PATH: process.env["PATH"], ACME_TOKEN: "token of acme", OTHER_TOKEN: "hidden", OPENAI_ORG_ID: "org-acme" };

async function scene(calls: Parameters<typeof scripted>[0], options: { readonly approval?: boolean } = { approval: false }) {
  const folder = await folderWith(orders);
  const directory = join(folder, "work");
  await mkdir(directory);
  const skills = await createSkills({ skills: await loadSkills(folder), environment, directory, ...options });
  const provider = scripted(calls);
  const agent = skills.equip(createAgent({ name: "clerk", provider, prompt: "Be brief." }));
  const session = createSession({ agent, store: memoryStore() });
  return { session, provider, skills };
}

describe("skills in a session", () => {
  it("stand in the prompt by name and description; bodies and tools come with read_skill, in the same run and in later ones", async () => {
    const { session, provider } = await scene([
      { calls: [{ name: "find_order", args: { number: 7 } }] },
      {
        calls: [
          { name: "read_skill", args: { skill: "orders" } },
          { name: "read_skill", args: { skill: "style" } },
        ],
      },
      { calls: [{ name: "find_order", args: { number: 7 } }] },
      { text: "Done." },
      { text: "Again." },
    ]);
    await execute(session, "Find order 7.").result();
    await execute(session, "Thanks.").result();
    const [first] = provider.requests;
    expect(systemText(first?.system)).toContain("Be brief.");
    expect(systemText(first?.system)).toContain("- orders: About orders.\n- style: About style.");
    expect(systemText(first?.system)).not.toContain("Call find_order.");
    expect(provider.requests.map(({ tools }) => tools?.map(({ name }) => name).join())).toEqual([
      "read_skill",
      "read_skill",
      ...Array(3).fill("read_skill,find_order"),
    ]);
    const results = session.messages.filter(({ role }) => role === "tool_result").map((message) => textOf(message));
    expect(results[0]).toContain("TOOL_UNKNOWN");
    expect(results[1]).toContain("Call find_order.");
    expect(results[2]).toBe("Write short sentences.");
  });

  it("C15, C23, C68: a script gets one JSON argument and the variables that its skill names, the organisation among them; no other", async () => {
    const { session } = await scene([
      { calls: [{ name: "read_skill", args: { skill: "orders" } }] },
      { calls: [{ name: "find_order", args: { number: 7 } }] },
      { text: "Done." },
    ]);
    await execute(session, "Find order 7.").result();
    const last = session.messages.findLast(({ role }) => role === "tool_result");
    const { argv, env, net } = JSON.parse((last ? textOf(last) : "").split("\n")[0] ?? "");
    expect(argv).toEqual(['{"number":7}']);
    expect(Object.keys(env).sort()).toEqual(["ACME_TOKEN", "LANG", "LOOPWRIGHT_CALL_MARK", "OPENAI_ORG_ID", "PATH"]);
    expect(env).toMatchObject({ ACME_TOKEN: "token of acme", OPENAI_ORG_ID: "org-acme" });
    if (namespaces) expect(net).toBe(0);
  });

  it("a script waits for an approval unless the deployment has settled it", async () => {
    const { session } = await scene(
      [
        { calls: [{ name: "read_skill", args: { skill: "orders" } }] },
        { calls: [{ name: "find_order", args: { number: 7 } }] },
        { text: "Done." },
      ],
      {},
    );
    expect((await execute(session, "Find order 7.").result()).status).toBe("awaiting_tool_execution");
  });

  it("an unknown skill is answered with those that there are, and arguments are checked by the table", async () => {
    const { session } = await scene([
      {
        calls: [
          { name: "read_skill", args: { skill: "../orders" } },
          { name: "read_skill", args: { skill: "orders" } },
        ],
      },
      { calls: [{ name: "find_order", args: { number: "seven" } }] },
      { text: "Done." },
    ]);
    await execute(session, "Go.").result();
    const results = session.messages.filter(({ role }) => role === "tool_result").map((message) => textOf(message));
    expect(results[0]).toContain("orders, style");
    expect(results[2]).toContain("TOOL_ARGUMENTS");
  });
});

describe("a folder of skills", () => {
  it("reports programs and variables that are missing, and leaves the skill out of catalogue and tools", async () => {
    const folder = await folderWith({
      ...orders,
      "needy/SKILL.md": skillText("needy", {
        more: "metadata:\n  loopwright:\n    binaries: [no-such-program-here]\n    variables: { required: [A], one_of: [[B, C]] }\n",
      }),
    });
    const loaded = await loadSkills(folder);
    const skills = await createSkills({ skills: loaded, environment: { ...environment, C: "" } });
    expect(skills.reports.find(({ name }) => name === "needy")?.lacks).toEqual([
      "The program `no-such-program-here` is not on the PATH.",
      "The variable `A` is not set.",
      "None of the variables `B`, `C` is set.",
    ]);
    const equipped = skills.equip(createAgent({ name: "clerk", provider: scripted([]) }));
    expect(JSON.stringify(equipped.prompt)).not.toContain("needy");
    expect(Object.keys(skills.rules)).toContain("needy");
    expect((await surveySkills(loaded, { ...environment, A: "1", B: "1" })).flatMap(({ lacks }) => lacks)).toEqual([
      "The program `no-such-program-here` is not on the PATH.",
    ]);
  });

  it.each([
    ["a name that is not its folder's", { "a/SKILL.md": skillText("b") }, "its folder is `a`"],
    ["a tool without script", { "a/SKILL.md": skillText("a", { body: "## Tool: x\nOne." }) }, "has no script"],
    [
      "a tool of two skills",
      {
        "a/SKILL.md": skillText("a", { body: "## Tool: x\nOne." }),
        "a/scripts/x.js": "",
        "b/SKILL.md": skillText("b", { body: "## Tool: x\nOne." }),
        "b/scripts/x.js": "",
      },
      "one of the skill `a` too",
    ],
    [
      "a tool named read_skill",
      { "a/SKILL.md": skillText("a", { body: "## Tool: read_skill\nOne." }), "a/scripts/read_skill.js": "" },
      "the catalogue",
    ],
    ["a build that is none", { "a/SKILL.md": skillText("a"), "skills.json": "{}" }, "The build of skills"],
  ])("with %s is refused", async (_, files, message) => {
    await expect(loadSkills(await folderWith(files))).rejects.toThrow(message);
  });

  it("has no link in place of a file or a script", async () => {
    const folder = await folderWith({ "a/SKILL.md": skillText("a", { body: "## Tool: x\nOne." }), "x.js": "" });
    await mkdir(join(folder, "a/scripts"));
    await symlink(join(folder, "x.js"), join(folder, "a/scripts/x.js"));
    await expect(loadSkills(folder)).rejects.toThrow("no regular file");
  });

  it("C63: keeps the rules of a build when a skill is changed, and needs no build", async () => {
    const rule = (pattern: string): string => `metadata: { loopwright: { guardrails: { deny_commands: ['${pattern}'] } } }\n`;
    const folder = await folderWith({ "a/SKILL.md": skillText("a", { more: rule("rm -rf") }) });
    const of = async () => (await loadSkills(folder))[0]?.rules.denyCommands.map(({ pattern }) => pattern);
    expect(await of()).toEqual(["rm -rf"]);
    await buildSkills(await loadSkills(folder), folder);
    expect(await of()).toEqual(["rm -rf"]);
    await writeFile(join(folder, "a/SKILL.md"), skillText("a", { more: rule("shutdown") }));
    expect(await of()).toEqual(["shutdown", "rm -rf"]);
  });
});
