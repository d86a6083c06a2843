import type { Tokens } from "marked";
import { memo, type ReactNode } from "react";
import { Inline } from "./inline.tsx";

/** A table that scrolls sideways by itself. A row is drawn again only when its own text changes. */
export function MarkdownTable({ table }: { readonly table: Tokens.Table }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <div className="markdown-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <Row cells={table.header} raw={rawOf(table.header)} />
        </thead>
        <tbody>
          {table.rows.map((cells, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name, and hold no state
            <Row key={i} cells={cells} raw={rawOf(cells)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const rawOf = (cells: readonly Tokens.TableCell[]): string => cells.map((cell) => `${cell.align} ${cell.text}`).join("\n");

const Row = memo(
  function Row({ cells }: { readonly cells: readonly Tokens.TableCell[]; readonly raw: string }): ReactNode {
    return (
      <tr>
        {cells.map(({ tokens, header, align }, i) => {
          const Cell = header ? "th" : "td";
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other name, and hold no state
            <Cell key={i} dir="auto" {...(align ? { "data-align": align } : {})} {...(header ? { scope: "col" } : {})}>
              <Inline tokens={tokens} />
            </Cell>
          );
        })}
      </tr>
    );
  },
  // What is in brackets may be defined elsewhere.
  (before, now) => before.raw === now.raw && !now.raw.includes("["),
);
