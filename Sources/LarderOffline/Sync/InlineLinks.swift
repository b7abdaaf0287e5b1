/// The links behind which collections in line went on, so that those without an end are noticed.
struct InlineLinks {
  private var seen = SeenLinks()
  /// The collection that was read last, and its pages in a row that brought nothing new.
  private var collection: Int64?
  private var emptyPages = 0

  /// False for a link that was followed before.
  mutating func insert(_ link: String) -> Bool { seen.insert(link) }

  /// Notes a page; false where so many of its collection brought nothing new that there is no end to be seen. Of many
  /// collections each may be empty.
  mutating func note(_ inline: InlinePage, new: Int64) -> Bool {
    emptyPages = new > 0 || collection != inline.id ? 0 : emptyPages + 1
    collection = inline.id
    return emptyPages <= DownloadMachine.idlePages
  }
}
