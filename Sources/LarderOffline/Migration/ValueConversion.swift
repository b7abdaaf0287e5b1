import LarderOData
import LarderService

/// Conversion of values between the types of two models. A value is converted only if the result converts back to the same
/// value, so that nothing is rounded, cut or interpreted. This type does no I/O.
struct ValueConversion: Sendable {
  let old: EdmModel
  let new: EdmModel
  /// The new names of types, actions and functions that were declared in another namespace before.
  private let renamed: [String: String]

  init(from old: EdmModel, to new: EdmModel) {
    (self.old, self.new) = (old, new)
    let oldNames = Self.names(old)
    let newNames = Self.names(new)
    let added = Dictionary(grouping: newNames.subtracting(oldNames), by: Self.unqualified)
    var renamed: [String: String] = [:]
    for (name, removed) in Dictionary(grouping: oldNames.subtracting(newNames), by: Self.unqualified) {
      if removed.count == 1, let candidates = added[name], candidates.count == 1 { renamed[removed[0]] = candidates[0] }
    }
    self.renamed = renamed
  }

  /// Conversion within one model: a value has one only if it is of its type.
  init(within model: EdmModel) { (old, new, renamed) = (model, model, [:]) }

  private static func names(_ model: EdmModel) -> Set<String> {
    var names: Set<String> = []
    for schema in model.schemas {
      names.formUnion(schema.entityTypes.map(\.qualifiedName))
      names.formUnion(schema.complexTypes.map(\.qualifiedName))
      names.formUnion(schema.enumTypes.map(\.qualifiedName))
      names.formUnion(schema.actions.map(\.qualifiedName))
      names.formUnion(schema.functions.map(\.qualifiedName))
    }
    return names
  }

  private static func unqualified(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? name }

  /// Whether anything is declared in another namespace now.
  var hasNewNames: Bool { !renamed.isEmpty }

  /// The name of a type, an action or a function in the new model; the same name if it has no other there.
  func newName(_ name: String) -> String { renamed[name] ?? name }

  // MARK: Types

  /// Whether a column keeps its cells as they are: each value of the old type is stored in the same way as one of the new
  /// type.
  func isSame(_ old: EdmTypeReference, _ new: EdmTypeReference) -> Bool {
    var visited: Set<String> = []
    return isSame(old, new, &visited)
  }

  private func isSame(_ old: EdmTypeReference, _ new: EdmTypeReference, _ visited: inout Set<String>) -> Bool {
    switch (old, new) {
    case (.collection(let old), .collection(let new)): return isSame(old, new, &visited)
    case (.primitive(let old), .primitive(let new)):
      guard old != new else { return true }
      return ColumnStorage(old) == .integer && ColumnStorage(new) == .integer
        && new.integerRange.contains(old.integerRange.lowerBound)
        && new.integerRange.contains(old.integerRange.upperBound)
    case (.named(let oldName), .named(let newName)):
      if let oldEnum = self.old.enumType(oldName), let newEnum = self.new.enumType(newName) {
        return oldEnum.isFlags == newEnum.isFlags
          && oldEnum.members.allSatisfy { newEnum.member($0.name)?.value == $0.value }
      }
      guard oldName == newName else { return false }
      guard visited.insert(oldName).inserted else { return true }
      guard let oldType = self.old.structure(oldName), let newType = self.new.structure(newName) else {
        return self.old.structure(oldName) == nil && self.new.structure(newName) == nil
      }
      for property in oldType.properties {
        guard let other = newType.property(property.name),
          isSame(self.old.underlying(property.type).type, self.new.underlying(other.type).type, &visited)
        else { return false }
      }
      return true
    default: return old == new
    }
  }

  // MARK: Values

  /// The value under a type of the new model; nil if it has none there, or none that converts back to the same value.
  ///
  /// - Parameters:
  ///   - from: the value's declared type in the old model; nil for an undeclared property.
  ///   - to: the declared type in the new model.
  func convert(_ value: ODataValue, from: EdmTypeReference?, to: EdmTypeReference) -> ODataValue? {
    let from = from.map { old.underlying($0).type }
    let to = new.underlying(to).type
    if value == .null { return .null }
    if case .abstract = to { return value }
    if case .collection(let items) = value {
      guard to.isCollection else { return nil }
      let converted = items.compactMap { convert($0, from: from?.item, to: to.item) }
      return converted.count == items.count ? .collection(converted) : nil
    }
    guard !to.isCollection else { return nil }
    // A type of a document that was not read takes any value.
    if let name = to.name, new.enumType(name) == nil, new.structure(name) == nil { return value }
    switch (value, to) {
    case (.complex(let complex), .named(let name)): return convert(complex, from: from?.name, to: name)
    case (.enumeration(let text), .named(let name)):
      guard let type = new.enumType(name), let number = try? EnumerationValue.read(text, type) else { return nil }
      return isValue(number, of: type) || from.map { isSame($0, to) } == true ? value : nil
    case (.enumeration(let text), .primitive(let type)):
      let declared = from?.name.flatMap { old.enumType($0) }
      if type == .string { return .string(text) }
      guard ColumnStorage(type) == .integer, let number = declared.flatMap({ try? EnumerationValue.read(text, $0) })
      else { return nil }
      return try? ODataValue(whole: number, type: type)
    case (_, .named(let name)):
      guard let type = new.enumType(name) else { return nil }
      if case .string(let text) = value {
        guard Int64(text) == nil, let number = try? EnumerationValue.read(text, type), isValue(number, of: type) else {
          return nil
        }
        return .enumeration(text)
      }
      guard let number = value.wholeNumber, isValue(number, of: type) else { return nil }
      return .enumeration(EnumerationValue.text(number, type))
    // A number of a binary type was rounded to its property's when the change was made.
    case (.double, .primitive) where from == to && to.primitive.map { ColumnStorage($0) } == .real: return value
    case (_, .primitive(let type)): return Self.exact(value, type)
    default: return nil
    }
  }

  /// Whether a number is that of a member, or of several with flags.
  private func isValue(_ number: Int64, of type: EdmEnumType) -> Bool {
    Int64(EnumerationValue.text(number, type)) == nil
  }

  private func convert(_ complex: ODataComplexValue, from: String?, to: String) -> ODataValue? {
    let oldType = (complex.typeName ?? from).flatMap { old.structure($0) }
    let newName = complex.typeName.map { self.newName($0) }
    guard let newType = new.structure(newName ?? to), !newType.isEntityType else { return nil }
    var converted = complex
    converted.typeName = newName
    for (place, property) in complex.properties.enumerated() {
      let oldProperty = oldType?.property(property.name)
      guard let declared = newType.property(property.name) else {
        guard oldProperty == nil || newType.isOpen else { return nil }
        continue
      }
      guard let value = convert(property.value, from: oldProperty?.type, to: declared.type) else { return nil }
      converted.properties[place].value = value
    }
    return .complex(converted)
  }

  // MARK: Primitive values

  /// The value in another primitive type, if it converts back to the same value.
  static func exact(_ value: ODataValue, _ type: EdmPrimitiveType) -> ODataValue? {
    if let own = value.type {
      let storage = ColumnStorage(type)
      if own == type || ColumnStorage(own) == storage && storage != .integer && storage != .real { return value }
    }
    guard let converted = plain(value, type) else { return nil }
    if let number = value.exactNumber, let same = converted.exactNumber { return number == same ? converted : nil }
    guard let own = value.type else { return nil }
    return plain(converted, own) == value ? converted : nil
  }

  private static func plain(_ value: ODataValue, _ type: EdmPrimitiveType) -> ODataValue? {
    switch (value, type) {
    case (.string(let text), _): return isTextual(type) ? try? ODataValue(text: text, type: type) : nil
    case (_, .string): return value.type.map(isTextual) == true ? (try? value.text()).map { .string($0) } : nil
    case (.date(let date), .dateTimeOffset):
      return ODataDateTimeOffset(date: date, time: .midnight).map { .dateTimeOffset($0) }
    case (.date(let date), .dateTime): return .dateTime(ODataDateTime(date: date))
    case (.dateTime(let timestamp), .date): return .date(timestamp.date)
    case (.dateTime(let timestamp), .dateTimeOffset):
      return ODataDateTimeOffset(date: timestamp.date, time: timestamp.time).map { .dateTimeOffset($0) }
    case (.dateTimeOffset(let timestamp), .date): return timestamp.with(offsetMinutes: 0).map { .date($0.date) }
    case (.dateTimeOffset(let timestamp), .dateTime):
      return timestamp.with(offsetMinutes: 0).map { .dateTime(ODataDateTime(date: $0.date, time: $0.time)) }
    default: break
    }
    guard let number = value.exactNumber else { return nil }
    switch ColumnStorage(type) {
    case .integer: return Int64(exactly: number).flatMap { try? ODataValue(whole: $0, type: type) }
    case .decimal: return .decimal(number)
    case .real: return type == .single ? .single(Float(number)) : .double(Double(number))
    default: return nil
    }
  }

  /// Whether a value of the type is the same as its text. A text is not taken for Base64 or a place on the earth.
  private static func isTextual(_ type: EdmPrimitiveType) -> Bool {
    switch ColumnStorage(type) {
    case .boolean, .integer, .real, .decimal, .guid, .date, .dateTimeOffset, .dateTime, .timeOfDay, .duration: true
    case .string, .binary, .enumeration, .geo, .json, .complex, .dynamic, .stream: false
    }
  }
}
