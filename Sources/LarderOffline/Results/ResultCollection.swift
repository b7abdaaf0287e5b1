import LarderOData
import LarderStorage

/// Writes the entities or references of a result one by one, between the text before and after them.
struct ResultCollection {
  private let run: ResultRun
  private let object: ResultObject
  private let writer: ResultWriter
  private var total: Int64?
  private var paging: ResultPaging

  init(_ run: ResultRun, _ object: ResultObject, _ writer: ResultWriter) {
    (self.run, self.object, self.writer) = (run, object, writer)
    paging = ResultPaging(run.plan.page)
  }

  private var form: ResultForm { run.form }

  /// Writes the text before the rows, with the count if the query has one.
  mutating func open(into out: inout ResultBytes) throws {
    total = try run.plan.count.map { try writer.count($0.sql, $0.parameters.values()) }
    guard !form.isVerbose else { return out.append(literal: "{\"d\":{\"results\":[") }
    out.append(UInt8(ascii: "{"))
    out.append(run.context)
    if let total {
      out.append("\"\(form.control)count\":")
      out.append(form.isIEEE754Compatible ? "\"\(total)\"," : "\(total),")
    }
    out.append(literal: "\"value\":[")
  }

  /// Writes a row. Returns false if it is the first row after the page.
  @inline(__always)
  mutating func row(_ row: borrowing Row, into out: inout ResultBytes) throws -> Bool {
    guard paging.accepts(row) else { return false }
    try run.row(object, row, writer, into: &out)
    return true
  }

  /// Writes the text after the rows.
  func close(into out: inout ResultBytes) throws -> ResultRun.End {
    if paging.count == 0, try run.hasOwner(writer) == false {
      out.truncate(to: 0)
      return ResultRun.End(outcome: .nothing, mediaType: form.mediaType)
    }
    out.close(UInt8(ascii: "]"))
    let next = try paging.next.map { try ResultLinks(form).next(run.url, after: $0) }
    if form.isVerbose {
      if let total { out.append(",\"__count\":\"\(total)\"") }
      if let next { out.append(",\"__next\":\"\(next)\"") }
      out.append(literal: "}}")
    } else {
      if let next { out.append(",\"\(form.control)nextLink\":\"\(next)\"") }
      out.append(UInt8(ascii: "}"))
    }
    return ResultRun.End(outcome: .content, rows: paging.count, mediaType: form.mediaType)
  }
}
