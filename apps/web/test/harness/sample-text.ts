/** A long answer with every kind of block. */
export const everyBlock = `## How the log replaces state

A session **is** its log: one append-only, numbered list of *facts*. Everything else is ~~stored~~ derived. See [the plan](https://example.org/plan "Plan") or write to <mailto:team@example.org>. Inline code such as \`fold(state, fact)\` is common[^1].

1. The driver folds what came in.
2. Then it **plans**:
   - effects that are owed,
   - facts that follow.

   A second paragraph inside of the item.
3. At last it appends.

- [x] durable before the act
- [ ] the result after it

> In doubt there is no answer, only a question that is asked again.
>
> > Nested, too.

\`\`\`ts
// One fold, no clock and no randomness.
export function fold(state: State, fact: Fact): State {
  const limit = 0x10 + 42.5;
  switch (fact.type) {
    case "run.started":
      return { ...state, run: \`run-\${fact.runId}\`, startedAt: fact.at, a: "a very long line that has to scroll because it is far wider than the column it is in" };
    default:
      return state; /* every fact is legal
      in every state */
  }
}
\`\`\`

### Numbers

| store | append, p50 | append, p99 | note |
|:------|------------:|------------:|:----:|
| memory | 0.01 ms | 0.02 ms | tests |
| sqlite | 0.31 ms | 1.2 ms | default |
| postgres | 1.8 ms | 6.4 ms | several nodes |

---

Raw HTML is text: <script>alert(1)</script> and <img src=x onerror=alert(1)>. A picture elsewhere: ![tracking pixel](https://example.org/p.png).

[^1]: It is the whole idea.`;

/** Text that must do no harm. */
export const hostile = `</script><img src=x onerror="alert(1)"><svg onload=alert(1)>

\u001b[31mred\u001b[0m and \u001b]0;title\u0007 and user\u202egnp.exe

[click me](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) <a href="javascript:alert(1)">x</a>

שלום עולם, this is mixed.`;
