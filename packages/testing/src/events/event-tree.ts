import type { Rule } from "./event-grammar.ts";

/** The order of events as rules, by the name of the tree. */
export type EventTree = ReadonlyMap<string, Rule>;

interface Line {
  readonly label: string;
  readonly below: Line[];
}

/** Width of one level of the drawing: `├─ `. */
const levelWidth = 3;

/**
 * Reads drawn trees. A line is `<events or a part> <marks>`, then two spaces and a remark. Marks: `?` at most once, `*` any number of times,
 * `~` at any time while the part around it is open, `&` side by side with its neighbours of that mark, `…` may be cut at both ends. Words behind a
 * message event are the roles it may have. A name of a tree stands for the whole tree.
 */
export function readEventTree(drawing: string): EventTree {
  const roots: Line[] = [];
  const path: Line[][] = [roots];
  for (const row of drawing.split("\n")) {
    const found = /^([│├└─ ]*)(\S.*)$/.exec(row);
    if (!found) continue;
    const [, indent = "", text = ""] = found;
    const depth = indent.length / levelWidth;
    const siblings = path[depth];
    if (!siblings) throw new Error(`The tree is drawn askew at \`${text}\`.`);
    const line: Line = { label: text.split("  ")[0]?.trim() ?? "", below: [] };
    siblings.push(line);
    path.splice(depth + 1, path.length, line.below);
  }
  const trees = new Map(roots.map((root) => [root.label, root]));
  return new Map(roots.map(({ label, below }) => [label, sequenceOf(below, trees)]));
}

/** Every event that the trees speak of. */
export function namesIn(tree: EventTree): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (rule: Rule): void => {
    if (rule.type === "event") for (const name of rule.names) names.add(name);
    else if (rule.type === "sequence") for (const item of [...rule.items, ...rule.anytime]) walk(item);
    else if (rule.type === "beside") for (const item of rule.of) walk(item);
    else walk(rule.of);
  };
  for (const rule of tree.values()) walk(rule);
  return names;
}

function sequenceOf(lines: readonly Line[], trees: ReadonlyMap<string, Line>): Rule {
  const items: Rule[] = [];
  const anytime: Rule[] = [];
  let group: Rule[] | undefined;
  for (const line of lines) {
    const marks = marksOf(line);
    const rule = ruleOf(line, trees);
    if (marks.includes("&")) {
      if (!group) {
        group = [];
        items.push({ type: "beside", of: group, begun: new Map(), isCut: false });
      }
      group.push(rule);
      continue;
    }
    group = undefined;
    (marks.includes("~") ? anytime : items).push(rule);
  }
  return { type: "sequence", items, anytime };
}

const marksOf = ({ label }: Line): string => / ([?*~&…]+)$/.exec(label)?.[1] ?? "";

function ruleOf(line: Line, trees: ReadonlyMap<string, Line>): Rule {
  const marks = marksOf(line);
  const name = marks === "" ? line.label : line.label.slice(0, -marks.length - 1);
  const named = line.below.length > 0 ? line : trees.get(name);
  const of = named ? sequenceOf(named.below, trees) : eventRule(name);
  if (marks.includes("*")) return { type: "many", of };
  if (marks.includes("?")) return { type: "maybe", of };
  return marks.includes("…") ? { type: "part", of } : of;
}

function eventRule(text: string): Rule {
  const alternatives = text.split(" | ").map((one) => one.split(" "));
  return { type: "event", names: alternatives.map(([name = ""]) => name), roles: alternatives[0]?.slice(1) ?? [] };
}

/** The order of events, as the README of core draws it. */
export const eventTree: EventTree = readEventTree(`
execution
├─ session_start
├─ run …
├─ session_end
└─ execute_complete

session
├─ input_accepted ~*
├─ session_changed | head_moved | context_compacted ~*
├─ verdict | expense ~*
├─ session_closed ~?
└─ run *

run
├─ input_accepted ~*
├─ aborting ~?
├─ verdict | expense ~*
├─ agent_start hook | agent_end | agent_waiting ~*
├─ run_start
├─ remark *
├─ turn *
│  ├─ limit_reached ?
│  ├─ turn_start
│  ├─ discarded *
│  │  ├─ attempt
│  │  ├─ attempt_discarded
│  │  ├─ retry_scheduled ?
│  │  └─ limit_reached ?
│  └─ committed ?
│     ├─ attempt
│     ├─ message_end assistant
│     ├─ call &
│     │  ├─ approval_requested ?
│     │  ├─ approval_decided ?
│     │  ├─ running *
│     │  │  ├─ tool_execution_start
│     │  │  └─ tool_execution_delta | progress | agent_start | agent_end | agent_waiting | agent_delta *
│     │  ├─ agent_start call ?
│     │  ├─ tool_execution_end ?
│     │  ├─ agent_end call *
│     │  └─ result
│     ├─ awaiting_tool_execution &
│     └─ turn_end
├─ limit_reached ?
├─ error ?
└─ run_end

attempt
├─ remark *
├─ message_start assistant
├─ text &
│  ├─ text_start
│  ├─ text_delta *
│  └─ text_end ?
├─ thinking &
│  ├─ thinking_start
│  ├─ thinking_delta *
│  └─ thinking_end ?
└─ toolcall &
   ├─ toolcall_start
   ├─ toolcall_delta *
   └─ toolcall_end ?

remark
├─ message_start user notice
└─ message_end user notice

result
├─ message_start tool_result
└─ message_end tool_result
`);
