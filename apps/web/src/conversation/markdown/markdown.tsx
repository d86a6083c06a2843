import { memo, type ReactNode, useRef, useState } from "react";
import { Block } from "./block.tsx";
import { headingLevels } from "./heading-levels.ts";
import { linkDefinitions, noLinks } from "./link-definitions.ts";
import { createBlockSplitter } from "./split-blocks.ts";
import "./markdown.css";

export interface MarkdownProps {
  readonly text: string;
  /** More of the text may come. */
  readonly isOpen?: boolean;
}

/** A Markdown text. While it grows, only its last block is read and drawn again. */
export const Markdown = memo(function Markdown({ text, isOpen = false }: MarkdownProps): ReactNode {
  // Both are caches of pure functions: what they hold never shows.
  const [splitter] = useState(createBlockSplitter);
  const links = useRef(noLinks);
  const blocks = splitter.split(text);
  links.current = linkDefinitions(blocks, links.current);
  const levels = headingLevels(blocks);
  return (
    <div className="markdown">
      {blocks.map((block, i) => (
        <Block
          // biome-ignore lint/suspicious/noArrayIndexKey: a block keeps its place as long as the text grows
          key={i}
          text={block.text}
          isFence={block.isFence}
          isOpen={isOpen && i === blocks.length - 1}
          level={levels[i]}
          links={links.current}
        />
      ))}
    </div>
  );
});
