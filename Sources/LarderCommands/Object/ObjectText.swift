internal import LarderObjects

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Describes a value for people.
enum ObjectText {
  /// The metadata, one line for each item.
  static func lines(_ metadata: ObjectMetadata) -> String {
    let rows: [(String, String)] = [
      ("key", metadata.key), ("labels", metadata.labels.joined(separator: ", ")), ("bytes", "\(metadata.byteCount)"),
      ("coding", metadata.coding.word), ("created", time(metadata.created)), ("updated", time(metadata.updated)),
      ("expires", metadata.expires.map(time) ?? ""), ("requested", "\(metadata.timesRequested)"),
    ]
    return rows.filter { !$0.1.isEmpty }.map { Columns.pad($0.0, 11) + TerminalText.line($0.1) + "\n" }.joined()
  }

  static func time(_ date: Date) -> String { date.formatted(.iso8601) }
}

/// A table whose rows arrive in portions; columns widen as needed.
struct ObjectListTable {
  private let style: TextStyle
  private var widths: [Int]?

  private static let headings = ["bytes", "updated", "expires", "requested", "key", "labels"]

  init(style: TextStyle) { self.style = style }

  /// True until rows have been added.
  var isEmpty: Bool { widths == nil }

  /// The lines for the next rows, below the header if they are the first.
  mutating func lines(_ items: [ObjectMetadata]) -> String {
    let rows = items.map { item in
      [
        "\(item.byteCount)", ObjectText.time(item.updated), item.expires.map(ObjectText.time) ?? "-",
        "\(item.timesRequested)", TerminalText.line(item.key),
        item.labels.map(TerminalText.line).joined(separator: ", "),
      ]
    }
    let isFirst = widths == nil
    let widths = ObjectListTable.headings.indices.map { column in
      max(
        self.widths?[column] ?? 0,
        Columns.width((isFirst ? [ObjectListTable.headings] + rows : rows).map { $0[column] }))
    }
    self.widths = widths
    func line(_ cells: [String]) -> String {
      // Numbers are right-aligned; nothing is added after the last cell that has content.
      let last = cells.last?.isEmpty ?? true ? cells.count - 2 : cells.count - 1
      let padded = cells.prefix(last + 1).enumerated().map { column, cell in
        switch column {
        case 0, 3: Columns.padLeft(cell, widths[column])
        case last: cell
        default: Columns.pad(cell, widths[column])
        }
      }
      return padded.joined(separator: "  ") + "\n"
    }
    return (isFirst ? style.bold(line(ObjectListTable.headings)) : "") + rows.map(line).joined()
  }
}

extension JSONOutput {
  /// Writes a value's metadata, with the cursor to continue from if the list ends with it.
  mutating func object(_ metadata: ObjectMetadata, next: ObjectCursor? = nil) {
    beginObject()
    member("key", metadata.key)
    name("labels")
    beginArray()
    for label in metadata.labels { string(label) }
    endArray()
    member("bytes", metadata.byteCount)
    member("coding", metadata.coding.word)
    member("created", ObjectText.time(metadata.created))
    member("updated", ObjectText.time(metadata.updated))
    member("expires", metadata.expires.map(ObjectText.time))
    member("timesRequested", metadata.timesRequested)
    member("next", next?.description)
    endObject()
  }
}

extension ObjectCoding {
  /// The name of the encoding on the command line.
  fileprivate var word: String {
    switch self {
    case .bytes: "bytes"
    case .json: "json"
    case .custom: "custom"
    }
  }
}
