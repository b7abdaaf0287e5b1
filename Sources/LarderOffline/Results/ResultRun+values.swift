import LarderOData
import LarderStorage

// Results that are not entities.
extension ResultRun {
  /// Writes the number of entities as text.
  func count(_ writer: ResultWriter, into out: inout ResultBytes) throws -> End {
    guard let count = try count(writer) else { return End(outcome: .nothing, mediaType: "text/plain") }
    out.integer(count)
    return End(outcome: .content, rows: 1, mediaType: "text/plain")
  }

  /// The number of entities; nil if the resource whose entities are counted does not exist.
  func count(_ writer: ResultWriter) throws -> Int64? {
    let count = try writer.count(plan.sql, plan.parameters.values())
    return try count == 0 && hasOwner(writer) == false ? nil : count
  }

  /// Writes the raw value (Protocol 4.01 §11.2.4.1): as text, and binary values as their bytes.
  func raw(_ member: ReadMember, _ writer: ResultWriter, into out: inout ResultBytes) throws -> End {
    var end = End(outcome: .nothing, mediaType: "text/plain;charset=utf-8")
    guard case .column(let column, let storage) = member.kind else {
      throw OfflineODataError(.unsupportedQuery, "the raw value of '\(member.name)', which is not a primitive property")
    }
    let cell = ResultCell(storage, type: member.type, form: form, types: types)
    try writer.forEachRow(plan.sql, plan.parameters.values()) { row in
      end.rows = 1
      end.outcome = row.storageClass(column) == .null ? .null : .content
      switch row.storageClass(column) {
      case .null: break
      case .blob:
        end.mediaType = "application/octet-stream"
        unsafe out.append(row.rawBytes(column))
      case .text:
        if storage == .geo { end.mediaType = "application/json" }
        unsafe out.append(row.utf8(column))
        if storage == .dateTime, !form.isVerbose { out.append(UInt8(ascii: "Z")) }
      case .integer, .real:
        try cell.write(row, column, types: types, into: &out)
        end.rows = 1
        let text = out.takeAll().dropLast().filter { $0 != UInt8(ascii: "\"") }
        out.append(Array(text))
      }
      return false
    }
    return end
  }

  /// Writes a property: its value alone, or the object for complex properties (JSON Format 4.01 §11).
  func value(
    _ member: ReadMember, _ writer: ResultWriter, into out: inout ResultBytes, _ sink: ([UInt8]) throws -> Void
  ) throws -> End {
    var end = End(outcome: .nothing, mediaType: form.mediaType)
    let types = types
    let isObject = !form.isVerbose && plan.isSingle && member.kind.isComplex
    // The value is of one type; a complex one may be of a derived type, which has further members.
    let preparing = ResultObject.Preparing(types: types, typeCount: 1)
    let inner = ReadMember(
      name: form.isVerbose && plan.isSingle ? member.name : "value", kind: member.kind, type: member.type)
    let parts = preparing.part(inner, isDynamic: member.type.item == .untyped).map { [$0] } ?? []
    if form.isVerbose { out.append(literal: "{\"d\":") }
    out.append(UInt8(ascii: "{"))
    out.append(context)
    if !plan.isSingle { out.append(form.isVerbose ? "\"results\":[" : "\"value\":[") }
    try writer.forEachRow(plan.sql, plan.parameters.values()) { row in
      end.rows += 1
      if plan.isSingle {
        if isNull(member, row) {
          end.outcome = .null
          return false
        }
        let start = out.count
        try writer.members(parts, row, type: 0, into: &out)
        if isObject { unwrap(from: start, &out) }
      } else {
        let start = out.count
        try writer.members(parts, row, type: 0, into: &out)
        dropName(from: start, &out)
        if out.count > ResultBytes.chunk { try sink(out.takeAllButLast()) }
      }
      end.outcome = .content
      return !plan.isSingle
    }
    if !plan.isSingle, try end.rows > 0 || hasOwner(writer) != false {
      end.outcome = .content
      out.close(UInt8(ascii: "]"))
    }
    // V2 writes null values; V4 has no content for them.
    if end.outcome == .null, form.isVerbose {
      end.outcome = .content
      out.string(member.name)
      out.append(literal: ":null,")
    }
    guard end.outcome == .content else {
      out.truncate(to: 0)
      if end.outcome == .nothing, try hasOwner(writer) == true { end.outcome = .null }
      return end
    }
    out.close(UInt8(ascii: "}"))
    if form.isVerbose { out.append(UInt8(ascii: "}")) }
    return end
  }

  private func isNull(_ member: ReadMember, _ row: borrowing Row) -> Bool {
    switch member.kind {
    case .column(let column, _), .complex(let column, _), .dynamic(let column, _): row.storageClass(column) == .null
    case .link: false
    }
  }

  /// Turns `"value":{…},` into `…,`: the members of the complex value belong to the outermost object.
  private func unwrap(from start: Int, _ out: inout ResultBytes) {
    out.remove(from: start, Array("\"value\":{".utf8).count)
    out.truncate(to: out.count - 2)
    out.append(UInt8(ascii: ","))
    if out.count == start + 1 { out.truncate(to: start) }
  }

  /// Turns `"value":…,` into `…,`.
  private func dropName(from start: Int, _ out: inout ResultBytes) {
    out.remove(from: start, Array("\"value\":".utf8).count)
  }
}

extension ReadMember.Kind {
  var isComplex: Bool { if case .complex = self { true } else { false } }
}
