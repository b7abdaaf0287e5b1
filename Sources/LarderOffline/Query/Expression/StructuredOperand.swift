import LarderOData
import LarderStorage

// `eq` and `ne` of complex values, at least one of which is stored in columns. Values are equal if they have the same
// type and all their properties are equal (URL Conventions 4.01 §5.1.1.1.1).
extension ExpressionWriter {
  /// The condition that two complex values are equal; nil if neither is stored in columns.
  func equalStructures(_ left: ODataBoundExpression, _ right: ODataBoundExpression) throws -> SQLText? {
    guard !left.type.isCollection, !right.type.isCollection else { return nil }
    let (lhs, rhs) = (try StructuredOperand(self, left), try StructuredOperand(self, right))
    guard let columns = lhs?.columns ?? rhs?.columns else { return nil }
    guard let lhs, let rhs else {
      throw OfflineODataError.unsupported("eq and ne of a complex value and this kind of expression")
    }
    let (lhsType, rhsType) = (try lhs.typeName(at: []), try rhs.typeName(at: []))
    var parts: [SQLText] = ["\(operand: lhsType) = \(operand: rhsType)"]
    for (path, column) in columns + (try rhs.columnsMissing(in: columns)) {
      parts.append(try equal(path, column: column, lhs: lhs, rhs: rhs))
    }
    let isSame = ExpressionWriter.chain(parts.map(\.operand), " AND ")
    // Without `ifnull`, the condition would be NULL instead of false if a type is NULL.
    return .atom(
      "(ifnull(\(isSame), 0) OR (\(operand: lhsType) IS NULL AND \(operand: rhsType) IS NULL))")
  }

  private func equal(
    _ path: [String], column: ReplicaColumn, lhs: StructuredOperand, rhs: StructuredOperand
  ) throws -> SQLText {
    switch column.storage {
    case .complex: return "\(operand: try lhs.typeName(at: path)) IS \(operand: try rhs.typeName(at: path))"
    case .stream: return .atom("1")
    case .json, .geo, .dynamic:
      let (a, b) = (try lhs.text(at: path, column), try rhs.text(at: path, column))
      return .atom("ifnull(larder_json_equal(\(a), \(b)), \(operand: a) IS NULL AND \(operand: b) IS NULL)")
    default: return try compare(.equal, lhs.value(at: path, column), rhs.value(at: path, column), wants: .value).text
    }
  }
}

/// One side of a comparison of complex values: columns, JSON, or a constant.
struct StructuredOperand {
  private let writer: ExpressionWriter
  private let side: Side
  private let declared: EdmStructure?

  private enum Side {
    case columns(ComplexScope, RelatedRows?)
    case json(JSONPlace, RelatedRows?)
    case constant([ODataBoundMember])
  }

  /// Nil if the expression is neither a path to a complex value nor an object.
  init?(_ writer: ExpressionWriter, _ expression: ODataBoundExpression) throws {
    self.writer = writer
    declared = expression.type.item.structure
    switch expression.kind {
    case .object(let members): side = .constant(members)
    case .path(let path):
      let place = try writer.place(path)
      switch place.scope {
      case .complex(let complex): side = .columns(complex, place.rows)
      case .json(let json): side = .json(json, place.rows)
      default: return nil
      }
    default: return nil
    }
  }

  /// The columns of the value's properties, with their paths inside the value; nil if the value is not stored in
  /// columns.
  var columns: [(path: [String], column: ReplicaColumn)]? {
    guard case .columns(let complex, _) = side else { return nil }
    let all = complex.owner.table.columns.filter {
      $0.path.count > complex.path.count && $0.path.starts(with: complex.path)
    }
    return all.map { (Array($0.path.dropFirst(complex.path.count)), $0) }
  }

  /// The columns that the other side does not have.
  func columnsMissing(in others: [(path: [String], column: ReplicaColumn)]) throws -> [(
    path: [String], column: ReplicaColumn
  )] {
    let paths = Set(others.map(\.path))
    return (columns ?? []).filter { !paths.contains($0.path) }
  }

  // MARK: Parts

  /// The name of the type of the value at a path; NULL if there is no value.
  func typeName(at path: [String]) throws -> SQLText {
    switch side {
    case .columns(let complex, let rows):
      guard let marker = complex.owner.table.column(complex.path + path, on: complex.owner.type) else { return "NULL" }
      var text = try writer.reference(marker, of: complex.owner)
      if path.isEmpty, complex.isCast, let type = complex.type {
        text = .atom("CASE WHEN \(try writer.typeCondition(of: complex, type)) THEN \(text) END")
      }
      let name: SQLText = .atom("CASE \(text) WHEN '' THEN \(value: .text(marker.type.name ?? "")) ELSE \(text) END")
      return rows.map { $0.value(name) } ?? name
    case .json(let json, let rows):
      var place = json
      for step in path { place = try place.member(step, type: ODataBoundType(.untyped, isNullable: true)) }
      let annotation = try place.member("@odata.type", type: .plain(.string)).scalar
      let name = SQLText(.text(declared(at: path)))
      let text: SQLText = .atom("CASE \(place.kind) WHEN 'object' THEN ifnull(substr(\(annotation), 2), \(name)) END")
      return rows.map { $0.value(text) } ?? text
    case .constant:
      guard let members = members(at: path) else { return "NULL" }
      let annotation = members.first { $0.name == "@odata.type" || $0.name == "@type" }
      guard case .literal(.string(let name))? = annotation?.value.kind else {
        return SQLText(.text(declared(at: path)))
      }
      return SQLText(.text(name.hasPrefix("#") ? String(name.dropFirst()) : name))
    }
  }

  /// The value of a property.
  func value(at path: [String], _ column: ReplicaColumn) throws -> SQLOperand {
    let type = ColumnTypes(writer.statement.context.plan.model).type(column)
    let none = SQLOperand(text: "NULL", storage: column.storage, type: type, literal: .null)
    switch side {
    case .columns(let complex, let rows):
      guard let sideColumn = complex.owner.table.column(complex.path + path, on: complex.owner.type) else {
        return none
      }
      let text = try writer.reference(sideColumn, of: complex.owner)
      return SQLOperand(
        text: rows.map { $0.value(text) } ?? text, storage: sideColumn.storage, type: type, hasCollation: rows == nil,
        canBeNaN: sideColumn.storage == .real)
    case .json:
      guard column.storage != .binary else {
        throw OfflineODataError.unsupported("eq and ne of complex values with Edm.Binary, one of them in a collection")
      }
      return JSONPlace.operand(try text(at: path, column), type: type)
    case .constant:
      guard let member = try member(at: path) else { return none }
      return try writer.operand(member)
    }
  }

  /// The text of a property that is stored as JSON.
  func text(at path: [String], _ column: ReplicaColumn) throws -> SQLText {
    switch side {
    case .columns(let complex, let rows):
      guard let sideColumn = complex.owner.table.column(complex.path + path, on: complex.owner.type) else {
        return "NULL"
      }
      let text = try writer.reference(sideColumn, of: complex.owner)
      return rows.map { $0.value(text) } ?? text
    case .json(let json, let rows):
      guard column.storage != .dynamic else {
        throw OfflineODataError.unsupported("eq and ne of complex values of an open type, one of them in a collection")
      }
      var place = json
      for step in path { place = try place.member(step, type: ODataBoundType(.untyped, isNullable: true)) }
      return rows.map { $0.value(place.scalar) } ?? place.scalar
    case .constant:
      guard column.storage != .dynamic else {
        throw OfflineODataError.unsupported("eq and ne of a complex value of an open type and an object")
      }
      guard let member = try member(at: path) else { return "NULL" }
      return try writer.json(member)
    }
  }

  private func declared(at path: [String]) -> String {
    var type = declared
    for step in path {
      type = type?.property(step)?.type.name.flatMap { writer.statement.context.plan.model.structure($0) }
    }
    return type?.name ?? ""
  }

  private func members(at path: [String]) -> [ODataBoundMember]? {
    guard case .constant(var members) = side else { return nil }
    for step in path {
      guard case .object(let inner)? = members.first(where: { $0.name == step })?.value.kind else { return nil }
      members = inner
    }
    return members
  }

  private func member(at path: [String]) throws -> ODataBoundExpression? {
    guard let name = path.last else { return nil }
    let value = members(at: Array(path.dropLast()))?.first { $0.name == name }?.value
    return value?.isNull == true ? nil : value
  }
}
