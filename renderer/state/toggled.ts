/** A copy of a set with one member put in, taken out, or, without a wish, whichever it is not. */
export function toggled<T>(set: ReadonlySet<T>, member: T, wanted = !set.has(member)): ReadonlySet<T> {
  const next = new Set(set);
  if (wanted) next.add(member);
  else next.delete(member);
  return next;
}
