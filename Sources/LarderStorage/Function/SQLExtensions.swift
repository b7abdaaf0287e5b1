/// What a database's SQL can do beyond SQLite's own: functions, aggregate functions and collations, on every connection.
///
/// Two are equal where they are the same object.
package final class SQLExtensions: Sendable, Hashable {
  let functions: [SQLFunction]
  let aggregates: [SQLAggregate]
  let collations: [SQLCollation]

  /// Joins them. A later one replaces an earlier one of the same name and number of arguments.
  package init(functions: [SQLFunction] = [], aggregates: [SQLAggregate] = [], collations: [SQLCollation] = []) {
    self.functions = functions
    self.aggregates = aggregates
    self.collations = collations
  }

  /// Equal where they are the same object.
  package static func == (left: SQLExtensions, right: SQLExtensions) -> Bool { left === right }

  /// Hashes the object's identity.
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What SQLite may take for granted of a function.
package struct SQLFunctionTraits: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Equal arguments give equal results: it may stand in an index, and is called once for constant arguments.
  package static let deterministic = SQLFunctionTraits(rawValue: 1)
  /// It has no side effect and tells no secret: it may stand in views, triggers and indexes of the file.
  package static let innocuous = SQLFunctionTraits(rawValue: 2)
}

/// A function of SQL: a value of each call's arguments.
package struct SQLFunction: Sendable {
  /// What a call does: it reads the arguments and sets the result, NULL where it sets none.
  package typealias Body = @Sendable (borrowing SQLArguments, borrowing SQLResult) throws(SQLFunctionError) -> Void

  /// The name in SQL.
  package let name: String
  /// How many arguments it takes; -1 for any number.
  package let argumentCount: Int32
  let traits: SQLFunctionTraits
  let body: Body

  /// The function with one argument more: a text that the message of a failure begins with.
  package var naming: SQLFunction {
    SQLFunction(name, argumentCount + 1, traits) { [body, argumentCount] (arguments, result) throws(SQLFunctionError) in
      do throws(SQLFunctionError) { try body(arguments, result) } catch {
        throw SQLFunctionError(arguments.text(Int(argumentCount)) + error.message)
      }
    }
  }

  /// Names a function.
  ///
  /// - Parameter argumentCount: how many arguments it takes; -1 for any number.
  package init(
    _ name: String, _ argumentCount: Int32, _ traits: SQLFunctionTraits = [.deterministic, .innocuous],
    _ body: @escaping Body
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.traits = traits
    self.body = body
  }
}

/// An aggregate function of SQL: a value of the rows of a group.
package struct SQLAggregate: Sendable {
  let name: String
  let argumentCount: Int32
  let traits: SQLFunctionTraits
  let makeState: @Sendable () -> any SQLAggregateState

  /// Names an aggregate function.
  ///
  /// - Parameter makeState: makes what collects the rows of one group.
  package init(
    _ name: String, _ argumentCount: Int32, _ traits: SQLFunctionTraits = [.deterministic, .innocuous],
    _ makeState: @escaping @Sendable () -> any SQLAggregateState
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.traits = traits
    self.makeState = makeState
  }
}

/// Collects the rows of one group; used by one connection, so by one thread at a time.
package protocol SQLAggregateState: AnyObject {
  /// Takes a row.
  func add(_ arguments: borrowing SQLArguments) throws(SQLFunctionError)
  /// Sets the result; of no rows too.
  func finish(_ result: borrowing SQLResult) throws(SQLFunctionError)
}

/// An order of texts.
@safe package struct SQLCollation: Sendable {
  /// Negative where the first text comes first, 0 where they are equal, else positive. It must be a total order over
  /// all bytes; it must not fail, and should take no memory: it is called once for each step of a search.
  package typealias Order = @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

  let name: String
  let order: Order

  /// Names an order.
  package init(_ name: String, _ order: @escaping Order) {
    self.name = name
    unsafe self.order = order
  }
}

/// Why a function has no value for its arguments: what the statement fails with, as `unexpectedValue`.
package struct SQLFunctionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, in words.
  package let message: String

  /// Takes the words.
  package init(_ message: String) { self.message = message }

  /// The words.
  package var description: String { message }
}
