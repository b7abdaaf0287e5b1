/// The functions, aggregate functions and collations that a database adds to SQLite's own, on every connection.
///
/// Two values are equal if they are the same object.
package final class SQLExtensions: Sendable, Hashable {
  let functions: [SQLFunction]
  let aggregates: [SQLAggregate]
  let collations: [SQLCollation]

  /// Combines them. A later one replaces an earlier one with the same name and number of arguments.
  package init(functions: [SQLFunction] = [], aggregates: [SQLAggregate] = [], collations: [SQLCollation] = []) {
    self.functions = functions
    self.aggregates = aggregates
    self.collations = collations
  }

  /// True if both are the same object.
  package static func == (left: SQLExtensions, right: SQLExtensions) -> Bool { left === right }

  /// Hashes the object's identity.
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What SQLite may assume about a function.
package struct SQLFunctionTraits: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Equal arguments give equal results: the function may be used in an index, and is called once for constant
  /// arguments.
  package static let deterministic = SQLFunctionTraits(rawValue: 1)
  /// The function has no side effect and reveals no secret: views, triggers and indexes of the file may use it.
  package static let innocuous = SQLFunctionTraits(rawValue: 2)
}

/// A scalar function of SQL, which computes a value from the arguments of each call.
package struct SQLFunction: Sendable {
  /// The body of a function: it reads the arguments and sets the result, which is NULL if it sets none.
  package typealias Body = @Sendable (borrowing SQLArguments, borrowing SQLResult) throws(SQLFunctionError) -> Void

  /// The name in SQL.
  package let name: String
  /// The number of arguments; -1 for any number.
  package let argumentCount: Int32
  let traits: SQLFunctionTraits
  let body: Body

  /// This function with one more argument: a text with which the message of a failure begins.
  package var naming: SQLFunction {
    SQLFunction(name, argumentCount: argumentCount + 1, traits: traits) {
      [body, argumentCount] (arguments, result) throws(SQLFunctionError) in
      do throws(SQLFunctionError) { try body(arguments, result) } catch {
        throw SQLFunctionError(arguments.text(Int(argumentCount)) + error.message)
      }
    }
  }

  /// Creates a function with a name.
  ///
  /// - Parameter argumentCount: the number of arguments; -1 for any number.
  package init(
    _ name: String, argumentCount: Int32, traits: SQLFunctionTraits = [.deterministic, .innocuous],
    body: @escaping Body
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.traits = traits
    self.body = body
  }
}

/// An aggregate function of SQL, which computes a value from the rows of a group.
package struct SQLAggregate: Sendable {
  let name: String
  let argumentCount: Int32
  let traits: SQLFunctionTraits
  let makeState: @Sendable () -> any SQLAggregateState

  /// Creates an aggregate function with a name.
  ///
  /// - Parameter makeState: creates the object that collects the rows of one group.
  package init(
    _ name: String, argumentCount: Int32, traits: SQLFunctionTraits = [.deterministic, .innocuous],
    makeState: @escaping @Sendable () -> any SQLAggregateState
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.traits = traits
    self.makeState = makeState
  }
}

/// Collects the rows of one group. Only one connection uses it, so only one thread at a time.
package protocol SQLAggregateState: AnyObject {
  /// Adds a row to the group.
  func add(_ arguments: borrowing SQLArguments) throws(SQLFunctionError)
  /// Sets the result, even for a group without rows.
  func finish(_ result: borrowing SQLResult) throws(SQLFunctionError)
}

/// A collation: an order of texts.
@safe package struct SQLCollation: Sendable {
  /// The comparison: negative if the first text comes first, 0 if they are equal, else positive. It must be a total
  /// order over all bytes and must not fail. It should not allocate memory: it is called once for each step of a
  /// search.
  package typealias Order = @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

  let name: String
  let order: Order

  /// Creates a collation with a name.
  package init(_ name: String, _ order: @escaping Order) {
    self.name = name
    unsafe self.order = order
  }
}

/// Why a function has no value for its arguments. The statement fails with `unexpectedValue` and this message.
package struct SQLFunctionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The description of the failure.
  package let message: String

  /// Creates an error with a message.
  package init(_ message: String) { self.message = message }

  /// The message.
  package var description: String { message }
}
