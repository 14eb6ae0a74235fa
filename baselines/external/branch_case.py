"""A case of branches as the protocol sends it, with the functions of docs/definitions.md."""


class BranchCase:
    def __init__(self, fields):
        self.__dict__.update(fields)

    def kv_head(self, head):
        return head * self.kv_heads // self.heads

    def offset(self, branch, kv_head):
        dilation = self.dilations[branch]
        if self.head_offset in ("none", "branch"):
            return branch % dilation if self.head_offset == "branch" else 0
        return kv_head % dilation if self.head_offset == "modulo" else kv_head // -(-self.kv_heads // dilation)

    def runs(self, head, branch):
        return self.branch_heads == "all" or head * len(self.segments) // self.heads == branch

    def backward(self):
        return getattr(self, "pass") == "backward"

    def merges(self):
        return len(self.segments) > 1 and self.branch_heads == "all"
