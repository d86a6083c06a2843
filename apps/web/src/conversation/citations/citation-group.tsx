import { Fragment, type ReactNode, useId } from "react";
import { useOpenOne } from "../fold-state.ts";
import { inertText, PlainText } from "../markdown/plain-text.tsx";
import { safeLink } from "../markdown/safe-link.ts";
import type { Citation } from "./cited-text.ts";
import "./citation-group.css";

export interface CitationGroupProps {
  /** Names what is open of it. */
  readonly name: string;
  readonly citations: readonly Citation[];
}

/** The numbers of a claim. Each opens the passage of the page that it comes from, or the page itself where no passages are known. */
export function CitationGroup({ name, citations }: CitationGroupProps): ReactNode {
  const [open, setOpen] = useOpenOne(`citations/${name}`);
  const id = useId();
  const shown = citations.find(({ number }) => number === open);
  return (
    <>
      {citations.map((citation, i) => {
        const { number, isRead } = citation;
        const isOpen = number === open;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a number may stand twice
          <Fragment key={i}>
            {i > 0 ? " " : null}
            {isRead ? (
              <button
                type="button"
                className="citation"
                aria-label={labelOf(citation)}
                aria-expanded={isOpen}
                aria-controls={isOpen ? id : undefined}
                onClick={() => setOpen(isOpen ? undefined : number)}
              >
                [{number}]
              </button>
            ) : (
              <PageLink className="citation" label={labelOf(citation)} url={citation.url}>
                [{number}]
              </PageLink>
            )}
          </Fragment>
        );
      })}
      {shown ? <Passage id={id} citation={shown} /> : null}
    </>
  );
}

/** The passage with its page. Phrasing content alone: it stands within the paragraph of the claim. */
function Passage({ id, citation: { title, url, quote } }: { readonly id: string; readonly citation: Citation }): ReactNode {
  return (
    <span className="citation-source" id={id}>
      {quote === undefined ? (
        <span className="citation-none">No passage of the page was found that has the words of this claim.</span>
      ) : (
        <q className="citation-quote" dir="auto">
          <PlainText text={quote} />
        </q>
      )}
      <span className="citation-page">
        <PageLink url={url}>
          <PlainText text={title} />
        </PageLink>{" "}
        <span className="citation-host" dir="ltr">
          <PlainText text={hostOf(url)} />
        </span>
      </span>
    </span>
  );
}

interface PageLinkProps {
  readonly url: string;
  readonly className?: string;
  readonly label?: string;
  readonly children: ReactNode;
}

/** A link to a page in a tab of its own; the words alone where a person may not be led there. */
function PageLink({ url, className, label, children }: PageLinkProps): ReactNode {
  const address = safeLink(url);
  if (address === undefined) return <span title={inertText(url)}>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address} className={className} aria-label={label}>
      {children}
    </a>
  );
}

const hostOf = (address: string): string => (URL.canParse(address) ? new URL(address).host : address);

/** A number alone names nothing. */
const labelOf = ({ number, title, url }: Citation): string => inertText(`Source ${number}: ${title}, ${hostOf(url)}`);
