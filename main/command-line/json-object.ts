/** The pieces of a JSON object whose last member is a list that is written element by element. */
export async function* objectPieces<Element>(
  members: Record<string, unknown>,
  listName: string,
  list: Iterable<Element> | AsyncIterable<Element>,
  elementPieces: (element: Element) => Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(listName)}:[`;
  let isFirst = true;
  for await (const element of list) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield* elementPieces(element);
  }
  yield ']}';
}
