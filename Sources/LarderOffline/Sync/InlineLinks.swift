/// The links that continue inline collections, used to detect collections without an end.
struct InlineLinks {
  private var seen = SeenLinks()
  /// The collection that was read last, and its number of consecutive pages without new rows.
  private var collection: Int64?
  private var emptyPages = 0

  /// Returns false for a link that was followed before.
  mutating func insert(_ link: String) -> Bool { seen.insert(link) }

  /// Records a page. Returns false after too many consecutive pages of one collection without new rows: the collection
  /// may never end. The pages are counted for each collection, because each of many collections may be empty.
  mutating func note(_ inline: InlinePage, new: Int64) -> Bool {
    emptyPages = new > 0 || collection != inline.id ? 0 : emptyPages + 1
    collection = inline.id
    return emptyPages <= DownloadMachine.idlePages
  }
}
