/// Turns objects on the tape into a handler's events. The reader gives it one row, or one small document, at a time; so
/// control information may be anywhere in an object.
struct PayloadWalker {
  /// The bytes to read and the handler of the events.
  struct Source {
    let bytes: UnsafeBufferPointer<UInt8>
    let handler: any PayloadHandler
  }

  /// The members of an object that determine how it is read.
  struct ObjectSummary {
    /// Indices of values on the tape; -1 for none.
    var type = -1
    var context = -1
    var removed = -1
    var metadata = -1
    var deferred = -1
    var mediaResource = -1
    /// Whether control information shows that the object is an entity.
    var marksEntity = false
    /// True if a member describes the object itself: it is reported before the other members.
    var describesObject = false
    /// The number of members that are properties.
    var propertyCount = 0
    /// The types of properties in the payload, by name number.
    var types: [Int32: Int] = [:]
    /// The properties that the payload marks as navigation properties.
    var navigations: Set<Int32> = []
    /// The properties that occur more than once, with the index of the last value.
    var repeated: [Int32: Int] = [:]
  }

  var tape = JSONTape()
  var names = PayloadNames()
  var types: PayloadTypes
  /// The names that the context URL marks as expanded; for payloads without a model.
  var expanded: Set<String> = []
  /// The current entry, which is the position of an error.
  var current = 0
  /// For each name number the last object that had the name, which finds repeated names without a set.
  private var lastObjectWithName: [UInt32] = []
  private var objectNumber: UInt32 = 0
  /// The number of open objects.
  private var depth = 0
  /// Prevents stack overflow, counted from the outermost object.
  private var stack = StackGuard()

  init(model: EdmModel?) { types = PayloadTypes(model: model) }

  /// Begins an object, which ``leave()`` ends; after an error nothing more is read.
  mutating func enter() throws(PayloadError.Problem) {
    // The next object may be read on another thread.
    if depth == 0 { stack = StackGuard() }
    guard !stack.isSpent(at: depth, usual: 512) else { throw .json(.tooDeep(limit: depth)) }
    depth += 1
  }

  mutating func leave() { depth -= 1 }

  var dialect: ODataDialect {
    get { names.dialect }
    set { names.dialect = newValue }
  }

  /// Looks up the names of an object's members, checks that none repeats, and collects the summary.
  mutating func summarize(
    _ at: Int, parent: Int32, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(PayloadError.Problem) -> ObjectSummary {
    var summary = ObjectSummary()
    objectNumber &+= 1
    var previous: Int32 = -1
    var index = at + 1
    while tape[index].kind != .endObject {
      current = index
      let name = try names.lookUp(
        tape.bytes(index, in: bytes), isEscaped: tape[index].isEscaped, parent: parent, previous: previous)
      tape.setName(name, at: index)
      let role = names.role(name)
      if isRepeated(name) {
        guard role == .property else { throw .duplicateName(names[name].name.text) }
        summary.repeated[name] = index + 1
      }
      if role == .property {
        summary.propertyCount += 1
      } else {
        summarizeMember(role, named: name, value: index + 1, &summary, bytes)
      }
      previous = name
      index = tape.after(index + 1)
    }
    return summary
  }

  @inline(__always)
  private mutating func isRepeated(_ name: Int32) -> Bool {
    let place = Int(name)
    if place >= lastObjectWithName.count {
      lastObjectWithName.append(contentsOf: repeatElement(0, count: place + 1 - lastObjectWithName.count))
    }
    if lastObjectWithName[place] == objectNumber { return true }
    lastObjectWithName[place] = objectNumber
    return false
  }

  /// Throws if a property occurs more than once.
  mutating func checkHasNoRepeated(_ summary: ObjectSummary) throws(PayloadError.Problem) {
    guard let (name, value) = summary.repeated.first else { return }
    current = value - 1
    throw .duplicateName(names[name].name.text)
  }

  private func summarizeMember(
    _ role: PayloadNames.Role, named name: Int32, value: Int, _ summary: inout ObjectSummary,
    _ bytes: UnsafeBufferPointer<UInt8>
  ) {
    let target = names[name].target
    switch role {
    case .control(let control) where target >= 0:
      if control == .type { summary.types[target] = value }
      if control == .navigationLink || control == .associationLink || control == .context {
        summary.navigations.insert(target)
      }
    case .control(let control):
      summary.describesObject = true
      if control == .type { summary.type = value }
      if control == .context { summary.context = value }
      if control == .removed { summary.removed = value }
      if control.marksEntity { summary.marksEntity = true }
    case .metadata:
      summary.metadata = value
      summary.marksEntity = metadataMarksEntity(value, bytes)
    case .deferred: summary.deferred = value
    case .mediaResource: summary.mediaResource = value
    case .annotation where target < 0: summary.describesObject = true
    case .operation: summary.describesObject = true
    case .annotation, .property: break
    }
  }

  /// The value of a member of an object; -1 for none. Compares bytes, so the names need not have been looked up.
  func find(_ name: StaticString, in object: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    guard tape[object].kind == .beginObject else { return -1 }
    var index = object + 1
    while tape[index].kind != .endObject {
      if tape.matches(index, name, in: bytes) { return index + 1 }
      index = tape.after(index + 1)
    }
    return -1
  }

  /// The index of a member that is a string; -1 if there is none.
  func findText(_ name: StaticString, in object: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let value = find(name, in: object, bytes)
    return value >= 0 && tape[value].kind == .string ? value : -1
  }

  func metadataMarksEntity(_ metadata: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    find("uri", in: metadata, bytes) >= 0 || find("id", in: metadata, bytes) >= 0
      || find("etag", in: metadata, bytes) >= 0
  }

  /// Returns a scalar on the tape.
  @inline(__always)
  func scalar(_ at: Int, _ type: PayloadScalarType, _ bytes: UnsafeBufferPointer<UInt8>) -> PayloadScalar {
    let entry = tape[at]
    let kind: PayloadScalar.Kind =
      switch entry.kind {
      case .true: .true
      case .false: .false
      case .number: .number
      case .string: .string
      default: .null
      }
    return PayloadScalar(
      kind: kind, isEscaped: entry.isEscaped, bytes: tape.bytes(at, in: bytes), type: type, dialect: dialect)
  }

  @inline(__always)
  func isScalar(_ at: Int) -> Bool { tape[at].kind != .beginObject && tape[at].kind != .beginArray }

  /// The declaration for the type name at a position; undeclared if there is no string.
  mutating func member(typeAt place: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> PayloadTypes.Member {
    guard place >= 0, tape[place].kind == .string else { return .undeclared }
    return types.member(spelled: tape.bytes(place, in: bytes), isEscaped: tape[place].isEscaped)
  }

  /// The value on the tape as untyped data.
  func untyped(_ at: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws(ODataValueError) -> ODataValue {
    try ODataValue(untyped: tape.node(at, in: bytes))
  }
}
