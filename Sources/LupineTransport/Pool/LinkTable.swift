// SPDX-License-Identifier: MIT

/// Doubly linked lists threaded through the indexes of a slab: the links of every element side by side.
///
/// Joining, leaving and popping cost a few stores and no allocation. An element is in at most one list of one table;
/// something that stands in two lists at once, such as an idle connection, has an entry in two tables.
struct LinkTable {
    /// "No element"; also what marks an element as standing in no list.
    static let none: Int32 = -1
    private static let detached: Int32 = -2

    private struct Link {
        var previous = LinkTable.detached
        var next = LinkTable.detached
    }

    private var links: [Link] = []

    /// Makes room for one more element, which stands in no list.
    mutating func grow() { links.append(Link()) }

    /// True while the element stands in a list of this table.
    func isLinked(_ index: Int32) -> Bool { links[Int(index)].previous != Self.detached }

    /// The element after `index`, towards the end of its list.
    func next(after index: Int32) -> Int32 { links[Int(index)].next }

    /// The element before `index`, towards the beginning of its list.
    func previous(before index: Int32) -> Int32 { links[Int(index)].previous }

    /// Puts an element at the end of `list`.
    mutating func append(_ index: Int32, to list: inout LinkList) {
        assert(!isLinked(index))
        links[Int(index)] = Link(previous: list.last, next: Self.none)
        if list.last == Self.none { list.first = index } else { links[Int(list.last)].next = index }
        list.last = index
        list.count &+= 1
    }

    /// Puts an element into `list` right before `next`, which stands in it.
    mutating func insert(_ index: Int32, before next: Int32, in list: inout LinkList) {
        assert(!isLinked(index) && isLinked(next))
        let previous = links[Int(next)].previous
        links[Int(index)] = Link(previous: previous, next: next)
        links[Int(next)].previous = index
        if previous == Self.none { list.first = index } else { links[Int(previous)].next = index }
        list.count &+= 1
    }

    /// Takes an element out of `list`, which it stands in.
    mutating func remove(_ index: Int32, from list: inout LinkList) {
        assert(isLinked(index))
        let link = links[Int(index)]
        if link.previous == Self.none {
            list.first = link.next
        } else {
            links[Int(link.previous)].next = link.next
        }
        if link.next == Self.none {
            list.last = link.previous
        } else {
            links[Int(link.next)].previous = link.previous
        }
        links[Int(index)] = Link()
        list.count &-= 1
    }

    /// Takes out the first element, if there is one.
    mutating func popFirst(of list: inout LinkList) -> Int32? {
        let first = list.first
        guard first != Self.none else { return nil }
        remove(first, from: &list)
        return first
    }
}

/// The two ends of one list in a `LinkTable`.
struct LinkList {
    fileprivate(set) var first = LinkTable.none
    fileprivate(set) var last = LinkTable.none
    fileprivate(set) var count: Int32 = 0
    var isEmpty: Bool { first == LinkTable.none }
}
