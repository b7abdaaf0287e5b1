/// A handler that creates an ``ODataPayload`` from the events of any reader.
///
/// It relies on the reader to nest begin and end; if they do not nest, the payload stays nil.
package final class PayloadBuilder: PayloadHandler {
  /// The payload; nil until its end was reported.
  package private(set) var payload: ODataPayload?

  private var kind = PayloadKind.entity
  private var frames: [PayloadFrame] = []
  /// The information about the payload, and its rows.
  private var root = PayloadFrame(.payload, name: nil)

  /// Creates a builder of one payload.
  package init() {}

  package func beginPayload(_ kind: PayloadKind) {
    self.kind = kind
    frames.removeAll(keepingCapacity: true)
    root = PayloadFrame(.payload, name: nil)
  }

  package func endPayload() {
    root.completeObject()
    payload = root.payload(kind)
  }

  package func beginEntity(_ name: PayloadName?, role: PayloadEntityRole, typeName: String?) {
    var frame = PayloadFrame(.entity, name: name)
    frame.entity.typeName = typeName
    if case .deleted(let removal) = role { frame.entity.removal = removal }
    frames.append(frame)
  }

  package func endEntity() {
    guard var frame = frames.popLast() else { return }
    frame.completeObject()
    let entity = frame.entity
    guard let name = frame.name else {
      let isDeleted = entity.removal != nil
      return withTop { $0.items.append(isDeleted ? .deletedEntity(entity) : .entity(entity)) }
    }
    withTop { $0.link(name) { $0.content = .entity(entity) } }
  }

  package func nullEntity(_ name: PayloadName) { withTop { $0.link(name) { $0.content = .null } } }

  package func beginCollection(_ name: PayloadName, isDelta: Bool) {
    frames.append(PayloadFrame(isDelta ? .delta : .collection, name: name))
  }

  package func endCollection() {
    guard let frame = frames.popLast(), let name = frame.name else { return }
    let content: ODataNavigationLink.Content =
      frame.kind == .delta || frame.holdsChanges ? .delta(frame.delta) : .collection(frame.collection)
    withTop { $0.link(name) { $0.setContent(content) } }
  }

  package func beginComplex(_ name: PayloadName?) { frames.append(PayloadFrame(.complex, name: name)) }

  package func endComplex() {
    guard var frame = frames.popLast() else { return }
    frame.completeObject()
    let value = ODataValue.complex(frame.complex)
    withTop { $0.add(value, frame.name) }
    if frames.isEmpty, frame.name == nil, let context = frame.entity.context { root.entity.context = context }
  }

  package func beginValues(_ name: PayloadName?) { frames.append(PayloadFrame(.values, name: name)) }

  package func endValues() {
    guard let frame = frames.popLast() else { return }
    withTop { $0.add(.collection(frame.values), frame.name) }
  }

  package func property(_ name: PayloadName, _ scalar: PayloadScalar) throws {
    if case .primitive(.stream) = scalar.type {
      let value = try scalar.value()
      return withTop { $0.stream(name) { $0.content = value } }
    }
    let property = ODataProperty(name.text, try scalar.value())
    if frames.isEmpty {
      root.add(property)
    } else {
      frames[frames.count - 1].add(property)
    }
  }

  package func element(_ scalar: PayloadScalar) throws {
    let value = try scalar.value()
    withTop { $0.add(value, nil) }
  }

  package func value(_ name: PayloadName?, _ value: ODataValue) { withTop { $0.add(value, name) } }

  package func control(_ information: ControlInformation, on name: PayloadName?, _ scalar: PayloadScalar) throws {
    // After the begin of a collection, its count and links are reported with its name; they belong to the object around
    // it.
    withTop { frame in
      if let name { frame.control(information, on: name, scalar) } else { frame.control(information, scalar) }
    }
  }

  package func annotation(_ annotation: ODataAnnotation, on name: PayloadName?) {
    withTop { frame in
      if let name { frame.pending.append((name, annotation)) } else { frame.entity.annotations.append(annotation) }
    }
  }

  package func operation(_ operation: ODataOperation) { withTop { $0.entity.operations.append(operation) } }

  package func reference(_ reference: ODataReference) { root.references.append(reference) }

  package func link(_ link: ODataDeltaLink, isDeleted: Bool) {
    withTop { $0.items.append(isDeleted ? .deletedLink(link) : .addedLink(link)) }
  }

  package func serviceElement(_ element: ODataServiceDocument.Element) { root.elements.append(element) }

  package func error(_ error: ODataErrorPayload) { root.error = error }

  private func withTop(_ body: (inout PayloadFrame) -> Void) {
    if frames.isEmpty { body(&root) } else { body(&frames[frames.count - 1]) }
  }
}
