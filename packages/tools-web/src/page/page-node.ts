/** What is used of the nodes of a parsed page. */
export interface PageNode {
  /** 1: element, 3: text. */
  readonly nodeType: number;
  /** In upper or lower case, by the parser. */
  readonly nodeName: string;
  readonly childNodes: ArrayLike<PageNode>;
  readonly textContent: string | null;
  getAttribute?(name: string): string | null;
}

/** Name of an element in lower case; empty for other nodes. */
export function tagOf(node: PageNode): string {
  return node.nodeType === 1 ? node.nodeName.toLowerCase() : "";
}
