"""stub"""
EXAMPLES={}
def plot() -> int:
    """x"""
    return 0
