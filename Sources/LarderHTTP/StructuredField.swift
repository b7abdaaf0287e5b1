/// Structured field values (RFC 9651): lists and items, parsed strictly and printed.
///
/// Parsing is one pass over the bytes. Nothing nests deeper than an inner list, and a list longer than its limit is
/// rejected.
package enum StructuredField {
  /// A bare item (RFC 9651 §3.3).
  package enum Value: Hashable, Sendable {
    case integer(Int64)
    /// A decimal in thousandths: 1.5 is 1500.
    case decimal(thousandths: Int64)
    case string(String)
    case token(String)
    case bytes([UInt8])
    case boolean(Bool)
    /// Seconds since 1970.
    case date(Int64)
    case displayString(String)
  }

  /// A bare item with its parameters.
  package struct Item: Hashable, Sendable {
    package var value: Value
    package var parameters: Parameters

    package init(_ value: Value, _ parameters: Parameters = []) {
      self.value = value
      self.parameters = parameters
    }
  }

  /// Parameters in their order. Of several with one name the last value is kept, at the position of the first (§3.1.2).
  package struct Parameters: Hashable, Sendable, ExpressibleByArrayLiteral, Sequence {
    private var entries: [Parameter]

    package init(arrayLiteral elements: Parameter...) { entries = elements }

    /// The value of a name; nil if it is absent.
    package subscript(name: String) -> Value? {
      get { entries.first { $0.name == name }?.value }
      set {
        let index = entries.firstIndex { $0.name == name }
        switch (newValue, index) {
        case (let value?, let index?): entries[index].value = value
        case (let value?, nil): entries.append(Parameter(name: name, value: value))
        case (nil, let index?): entries.remove(at: index)
        case (nil, nil): break
        }
      }
    }

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }
    package func makeIterator() -> IndexingIterator<[Parameter]> { entries.makeIterator() }
  }

  /// One parameter.
  package struct Parameter: Hashable, Sendable {
    package var name: String
    package var value: Value

    package init(name: String, value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// A member of a list (RFC 9651 §3.1).
  package enum Member: Hashable, Sendable {
    case item(Item)
    case innerList([Item], Parameters)
  }

  /// Reads a list. The caller joins the values of several fields of one name by a comma.
  package static func list(_ text: String, limit: Int = 1024) throws(StructuredFieldError) -> [Member] {
    var reader = StructuredFieldReader(text, limit: limit)
    return try reader.list()
  }

  /// Reads a single item.
  package static func item(_ text: String) throws(StructuredFieldError) -> Item {
    var reader = StructuredFieldReader(text, limit: 256)
    return try reader.wholeItem()
  }
}

/// The reason why a text is not a structured field. The field must then be ignored as a whole (RFC 9651 §4.2).
package struct StructuredFieldError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was expected or is not allowed.
  package let reason: String
  /// The position, in bytes from 0.
  package let offset: Int

  package var description: String { "Structured field, byte \(offset): \(reason)." }
}
