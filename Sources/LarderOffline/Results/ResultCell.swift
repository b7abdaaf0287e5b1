import LarderOData
import LarderService
import LarderStorage

/// How the values of one column are written as JSON. It is determined once for each query from the column's storage,
/// its type and the form of the result.
enum ResultCell: Sendable {
  case boolean
  /// A number, in quotes if the form requires them.
  case number(isQuoted: Bool)
  case real
  case single
  /// The digits unchanged if they are a JSON number, in quotes if the form requires them.
  case decimal(isQuoted: Bool)
  /// A string, unchanged.
  case text
  case enumeration(ResultEnumeration)
  case binary(isURLSafe: Bool)
  /// Text that is JSON already.
  case json
  /// Text that is JSON. The spelling of its parts depends on their types.
  case typedJSON(ValueType)
  /// A date and time without an offset: in V4 it is written in UTC.
  case dateTime
  /// Text of a type that this form spells in another way. It is converted through its value.
  case respelled(EdmPrimitiveType)

  init(_ storage: ColumnStorage, type: ODataBoundType, form: ResultForm, types: ResultTypes) {
    switch storage {
    case .boolean: self = .boolean
    case .integer: self = .number(isQuoted: form.quotesExactNumbers && type.primitive == .int64)
    case .real: self = type.primitive == .single ? .single : .real
    case .decimal: self = .decimal(isQuoted: form.quotesExactNumbers)
    case .string, .guid, .duration, .complex, .stream: self = .text
    case .date: self = form.isVerbose ? .respelled(.date) : .text
    case .dateTimeOffset: self = form.isVerbose ? .respelled(.dateTimeOffset) : .text
    case .timeOfDay: self = form.isVerbose ? .respelled(.timeOfDay) : .text
    case .dateTime: self = form.isVerbose ? .respelled(.dateTime) : .dateTime
    case .binary: self = .binary(isURLSafe: !form.isVerbose)
    case .enumeration:
      if case .enumeration(let names) = ValueType(type, in: types.model) {
        self = .enumeration(ResultEnumeration(names: names))
      } else {
        self = .enumeration(ResultEnumeration(names: nil))
      }
    case .geo: self = .json
    case .json, .dynamic:
      let type = ValueType(type, in: types.model)
      self = types.isVerbatim(type) ? .json : .typedJSON(type)
    }
  }

  /// Writes the value of a column, and a comma.
  @inline(__always)
  func write(_ row: borrowing Row, _ column: Int32, types: ResultTypes, into out: inout ResultBytes) throws {
    switch row.storageClass(column) {
    case .text:
      if case .text = self {
        unsafe out.string(row.utf8(column))
      } else {
        try unsafe text(row.utf8(column), types: types, into: &out)
      }
    case .integer: integer(row.integer(column), into: &out)
    case .null: out.append(literal: "null")
    case .real: real(row.real(column), into: &out)
    case .blob: try unsafe blob(row.rawBytes(column), into: &out)
    }
    out.append(UInt8(ascii: ","))
  }

  @inline(__always)
  private func integer(_ number: Int64, into out: inout ResultBytes) {
    switch self {
    case .number(isQuoted: false), .real, .single, .json, .typedJSON, .decimal(isQuoted: false): out.integer(number)
    case .boolean: if number == 0 { out.append(literal: "false") } else { out.append(literal: "true") }
    case .enumeration(let names): names.write(number, into: &out)
    default:
      out.append(UInt8(ascii: "\""))
      out.integer(number)
      out.append(UInt8(ascii: "\""))
    }
  }

  private func real(_ number: Double, into out: inout ResultBytes) {
    // A value computed from `Edm.Single` values may be outside their range.
    var number = number
    if case .single = self { number = Double(Float(number)) }
    guard number.isFinite else {
      return out.string(number.isNaN ? "NaN" : number < 0 ? "-INF" : "INF")
    }
    let text: String
    switch self {
    case .single: text = Float(number).description
    case .decimal, .number: text = ODataDecimal(number).description
    default: text = number.description
    }
    switch self {
    case .number(isQuoted: true), .decimal(isQuoted: true), .text: out.string(text)
    default: out.append(text)
    }
  }

  @inline(never)
  private func text(
    _ bytes: UnsafeBufferPointer<UInt8>, types: ResultTypes, into out: inout ResultBytes
  ) throws {
    switch self {
    case .decimal(let isQuoted), .number(let isQuoted):
      unsafe ResultCell.decimal(bytes, isQuoted: isQuoted, into: &out)
    case .json: unsafe out.append(bytes)
    case .typedJSON(let type):
      let node = try ResultTypes.node(unsafe Array(bytes))
      try types.write(node, as: type, into: &out)
    case .dateTime:
      out.append(UInt8(ascii: "\""))
      unsafe out.append(bytes)
      out.append(literal: "Z\"")
    case .respelled(let type): try unsafe types.write(String(decoding: bytes, as: UTF8.self), as: type, into: &out)
    case .text, .boolean, .real, .single, .enumeration, .binary: unsafe out.string(bytes)
    }
  }

  private func blob(_ bytes: UnsafeBufferPointer<UInt8>, into out: inout ResultBytes) throws {
    var isURLSafe = true
    if case .binary(let flag) = self { isURLSafe = flag }
    out.append(UInt8(ascii: "\""))
    unsafe out.base64(bytes, isURLSafe: isURLSafe)
    out.append(UInt8(ascii: "\""))
  }

  /// Writes the digits of a decimal: unchanged if JSON accepts them, otherwise in JSON's spelling; INF and NaN in
  /// quotes.
  static func decimal(_ bytes: UnsafeBufferPointer<UInt8>, isQuoted: Bool, into out: inout ResultBytes) {
    if isQuoted { return unsafe out.string(bytes) }
    if unsafe isNumber(bytes) { return unsafe out.append(bytes) }
    let text = unsafe String(decoding: bytes, as: UTF8.self)
    guard let number = ODataDecimal(text), number.isFinite else { return out.string(text) }
    out.append(number.description)
  }

  /// Whether JSON's grammar accepts the bytes as a number (RFC 8259 §6).
  static func isNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = 0
    func digits() -> Int {
      let first = index
      while index < bytes.count, unsafe bytes[index] &- 0x30 <= 9 { index += 1 }
      return index - first
    }
    if index < bytes.count, unsafe bytes[index] == UInt8(ascii: "-") { index += 1 }
    let isZero = unsafe index < bytes.count && bytes[index] == UInt8(ascii: "0")
    let integerDigits = digits()
    guard integerDigits == 1 || integerDigits > 1 && !isZero else { return false }
    if index < bytes.count, unsafe bytes[index] == UInt8(ascii: ".") {
      index += 1
      if digits() == 0 { return false }
    }
    if index < bytes.count, unsafe bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < bytes.count, unsafe bytes[index] == 0x2B {
        index += 1
      } else if index < bytes.count, unsafe bytes[index] == 0x2D {
        index += 1
      }
      if digits() == 0 { return false }
    }
    return index == bytes.count
  }
}

/// The names of an enumeration's values.
struct ResultEnumeration: Sendable {
  private let declared: ODataEnumNames?
  /// `"Name"` in quotes for the first values from 0 on, which are the most frequent.
  private let quoted: [[UInt8]]

  init(names: ODataEnumNames?) {
    declared = names
    guard let names else {
      quoted = []
      return
    }
    quoted = (0..<64).map { value in names.name(value).map { ResultBytes.string($0) } ?? [] }
  }

  /// The members that make up a value, joined by commas; the digits of the value if there are none.
  func name(_ value: Int64) -> String { declared?.name(value) ?? String(value) }

  @inline(__always)
  func write(_ value: Int64, into out: inout ResultBytes) {
    if value >= 0, value < Int64(quoted.count) {
      let name = quoted[Int(value)]
      if !name.isEmpty { return out.append(name) }
    }
    out.string(name(value))
  }
}
