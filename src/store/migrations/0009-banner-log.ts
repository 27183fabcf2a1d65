/** With `via` in it, the index on banners tells without a walk through all decisions of a banner whether any row of the log names it. */
export function bannerLog(): readonly string[] {
  return [
    'drop index decision_history_banner',
    'create index decision_history_banner on decision_history (source, banner_id, via)',
  ];
}
