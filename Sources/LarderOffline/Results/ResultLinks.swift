import LarderOData
import LarderStorage

/// Counts the rows of a page, and keeps the position of its last row.
struct ResultPaging {
  private let page: ReadPage?
  private(set) var count = 0
  private var last: SkipToken?
  /// The position after which there are more rows; nil if there are none.
  private(set) var next: SkipToken?

  init(_ page: ReadPage?) { self.page = page }

  /// Whether a row belongs to the page.
  @inline(__always)
  mutating func accepts(_ row: borrowing Row) -> Bool {
    guard let page else {
      count += 1
      return true
    }
    if count >= page.size {
      next = last
      return false
    }
    count += 1
    if count == page.size {
      var values: [SQLValue] = []
      for column in page.token { values.append(row.value(column)) }
      last = SkipToken(order: page.order, delivered: page.delivered + page.size, values: values)
    }
    return true
  }
}

/// Links to the next page.
struct ResultLinks {
  private let form: ResultForm

  init(_ form: ResultForm) { self.form = form }

  /// The URL of a result's query, continued after a page.
  func next(_ url: ODataBoundURL, after token: SkipToken) throws -> String {
    var url = url
    url.serviceRoot = nil
    advance(&url.options, token)
    do { return form.serviceRoot + (try printer.print(url.syntax(form.dialect))) } catch {
      throw OfflineODataError(.unsupportedQuery, "the link to the next page of this query: \(error)")
    }
  }

  /// The options of a next link of a navigation property, without the `?` before them.
  func options(_ options: ODataBoundOptions?, after token: SkipToken) throws -> String {
    guard var options else { return "$skiptoken=" + token.text }
    options.levels = nil
    advance(&options, token)
    do { return try printer.print(options.syntax(form.dialect)) } catch {
      throw OfflineODataError(.unsupportedQuery, "the link to the next page of the expanded rows: \(error)")
    }
  }

  private func advance(_ options: inout ODataBoundOptions, _ token: SkipToken) {
    // The token counts the rows of the earlier pages, so `$top` stays. The rows that `$skip` omits are before its
    // position.
    options.skipToken = token.text
    options.skip = nil
  }

  private var printer: ODataPrinter { ODataPrinter(version: form.version, isStrict: false) }
}
