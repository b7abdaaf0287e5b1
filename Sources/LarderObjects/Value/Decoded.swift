/// A decoded value of type `Value`.
final class Decoded<Value: Sendable>: DecodedValue {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// A decoded value. A lookup compares its type with the requested one.
protocol DecodedValue: AnyObject, Sendable {}
